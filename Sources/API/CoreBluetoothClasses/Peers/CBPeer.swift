import BluetoothSupport
import BluetoothValues
public import Foundation

/// A remote device.
///
/// Source: Apple, CBPeer.
open class CBPeer: NSObject, NSCopying {
    /// The device's identifier on this host, which is not its address.
    public let identifier: UUID

    init(identifier: UUID) {
        self.identifier = identifier
        super.init()
    }

    /// The ATT MTU of the link in bytes; 23 without a link.
    var mtuLength: Int { ATTLimits.minimumMTU }

    /// Returns the object itself, because a peer has an identity.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

extension CBPeer {
    /// Reads `identifier` or `mtuLength`, the two keys that code written for Apple's class uses.
    ///
    /// Foundation on Linux has no key-value coding; this replaces it here.
    ///
    /// - Parameter key: `identifier`, answered as `NSUUID`, or `mtuLength`, the ATT MTU in bytes, answered as
    ///   `NSNumber`. `as? UUID` and `as? Int` work too. Any other key is a programming error and traps, as Apple's
    ///   raises an exception.
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

/// A remote device that is connected to a ``CBPeripheralManager``.
///
/// Source: Apple, CBCentral.
open class CBCentral: CBPeer {
    private let mtu: Lock<Int>

    /// Creates a central with an identifier and its ATT MTU in bytes, 23 or more.
    init(identifier: UUID, mtu: Int) {
        self.mtu = Lock(mtu)
        super.init(identifier: identifier)
    }

    /// The number of bytes that one notification or indication to this central carries: the ATT MTU less 3, at most
    /// 512.
    ///
    /// May grow. Longer values are cut.
    ///
    /// Source: Core Specification, Vol 3, Part F, 3.2.9 and 3.4.7.1.
    open var maximumUpdateValueLength: Int { SubscriberTable.longestUpdate(mtu: mtuLength) }

    override var mtuLength: Int { mtu.withLock { $0 } }

    /// Sets the ATT MTU that an exchange yielded, in bytes.
    func updateMTU(_ length: Int) { mtu.withLock { $0 = length } }

    /// `<CBCentral: 0x…, identifier = …, MTU = …>`.
    open override var description: String {
        describe(self, ["identifier": identifier.uuidString, "MTU": "\(mtuLength)"])
    }
}
