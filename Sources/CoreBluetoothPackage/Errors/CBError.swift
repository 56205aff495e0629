public import Foundation

/// An error of the local system, of the link or of a manager.
///
/// `catch CBError.notConnected`, `if case CBError.notConnected = error`, `error as? CBError` and `error as NSError`
/// work as on Apple's platforms. Two casts do not on Linux: an `any Error` that holds this struct is nil as
/// `as? NSError`, and an `NSError` is nil as `as? CBError`; use `as NSError` and `CBError(_nsError:)`.
///
/// Source: Apple, CBError.
public struct CBError: _BridgedStoredNSError {
    /// The error's domain, ``CBErrorDomain``.
    ///
    /// Foundation's bridging reads it under this name.
    public static var _nsErrorDomain: String { CBErrorDomain }

    /// The error's domain, ``CBErrorDomain``.
    public static var errorDomain: String { CBErrorDomain }

    /// The error as Foundation's class.
    public let _nsError: NSError

    /// Wraps an error of Foundation's class, whose domain should be ``CBErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }

    /// An error as the system reports it: with the text that Apple's has, where one is known.
    package init(reported code: Code) {
        self.init(code, userInfo: code.message.map { [NSLocalizedDescriptionKey: $0] } ?? [:])
    }
}
