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

    /// Makes an error of a code.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - userInfo: More about it, under Foundation's keys such as `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = PrintableError(
            domain: CBErrorDomain, code: code.rawValue, userInfo: userInfo, meaning: code.message)
    }

    /// Makes an error of the system's own, which says what its code means.
    package init(system code: Code) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: code.message])
    }

    /// The hash of domain and code.
    ///
    /// Foundation's default asks `NSError.hash`, which never returns on Linux.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }

    /// Hashes domain and code.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }
}
