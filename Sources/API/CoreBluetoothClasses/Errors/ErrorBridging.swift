public import Foundation

/// The casts between an error and Foundation's class, which Foundation on Linux lacks for errors that wrap it.
extension _ObjectiveCBridgeable where Self: _BridgedStoredNSError {
    /// The error as Foundation's class, for `as? NSError`.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Casts an error of Foundation's class, for `as!`; traps for an error of another domain, as Apple's does.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
        guard _conditionallyBridgeFromObjectiveC(source, result: &result) else {
            preconditionFailure("An error of the domain \(source.domain) is no \(Self.self)")
        }
    }

    /// Casts an error of Foundation's class, for `as?` and patterns.
    ///
    /// - Returns: Whether its domain is that of this type; its code does not count.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout Self?) -> Bool {
        result = source.domain == _nsErrorDomain ? Self(_nsError: source) : nil
        return result != nil
    }

    /// Wraps an error of Foundation's class that the compiler knows to be of this type.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
        guard let source else { preconditionFailure("There is no error to be bridged to \(Self.self)") }
        return Self(_nsError: source)
    }
}
