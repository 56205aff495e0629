public import Foundation

/// An error that the other side of a link answered, or that a local server answers.
///
/// Casts and patterns work as those of ``CBError`` do. Codes of applications and profiles, 0x80 to 0xFF, pass
/// unchanged.
///
/// Sources: Apple, CBATTError; Core Specification, Vol 3, Part F, 3.4.1.1.
public struct CBATTError: _BridgedStoredNSError {
    /// The error's domain, ``CBATTErrorDomain``.
    ///
    /// Foundation's bridging reads it under this name.
    public static var _nsErrorDomain: String { CBATTErrorDomain }

    /// The error's domain, ``CBATTErrorDomain``.
    public static var errorDomain: String { CBATTErrorDomain }

    /// The error as Foundation's class.
    public let _nsError: NSError

    /// Wraps an error of Foundation's class, whose domain should be ``CBATTErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }

    /// Makes an error of a code.
    ///
    /// - Parameters:
    ///   - code: What went wrong.
    ///   - userInfo: More about it, under Foundation's keys such as `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = PrintableError(
            domain: CBATTErrorDomain, code: code.rawValue, userInfo: userInfo, meaning: code.message)
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
