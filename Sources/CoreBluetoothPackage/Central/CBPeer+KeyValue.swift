import Foundation

extension CBPeer {
    /// Reads `identifier` or `mtuLength`, the two keys that code written for Apple's class uses.
    ///
    /// Foundation on Linux has no key-value coding; this stands in for it here.
    ///
    /// - Parameter key: `identifier`, answered as `NSUUID`, or `mtuLength`, the ATT MTU in bytes, answered as `NSNumber`.
    ///   `as? UUID` and `as? Int` work too. Any other key is a programming error and traps, as Apple's raises an
    ///   exception.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "identifier": NSUUID(uuidString: identifier.uuidString)
        case "mtuLength": NSNumber(value: mtuLength)
        default:
            preconditionFailure(
                "[\(self) valueForUndefinedKey:]: this class is not key value coding-compliant for the key \(key).")
        }
    }
}
