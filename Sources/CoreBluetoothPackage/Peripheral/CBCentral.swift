import BluetoothSupport
import Foundation
import Synchronization

/// A remote device that is connected to a ``CBPeripheralManager``.
///
/// Source: Apple, CBCentral.
open class CBCentral: CBPeer {
    private let mtu: Lock<Int>

    /// Makes the central of an identifier, with its ATT MTU in bytes: 23 or more.
    init(identifier: UUID, mtu: Int) {
        self.mtu = Lock(mtu)
        super.init(identifier: identifier)
    }

    /// How many bytes one notification or indication to this central carries: the ATT MTU less 3, at most 512.
    ///
    /// May grow. Longer values are cut.
    ///
    /// Source: Core Specification, Vol 3, Part F, 3.2.9 and 3.4.7.1.
    open var maximumUpdateValueLength: Int { SubscriberTable.longestUpdate(mtu: mtuLength) }

    /// The ATT MTU in bytes.
    override var mtuLength: Int { mtu.withLock { $0 } }

    /// Takes over the ATT MTU that an exchange gave, in bytes.
    func updateMTU(_ length: Int) { mtu.withLock { $0 = length } }

    /// `<CBCentral: 0x…, identifier = …, MTU = …>`.
    open override var description: String {
        describe(self, ["identifier": identifier.uuidString, "MTU": "\(mtuLength)"])
    }
}
