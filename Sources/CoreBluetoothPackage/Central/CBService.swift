import BluetoothBackend
import BluetoothSupport
import Foundation
import Synchronization

/// A service of a peripheral.
///
/// Source: Apple, CBService.
open class CBService: CBAttribute {
    private struct Fields {
        weak var peripheral: CBPeripheral?
        var includedServices: [CBService]?
        var characteristics: [CBCharacteristic]?
    }

    // Invariant: reached under this lock.
    private let fields: LockedState<Fields>

    /// Whether it is a primary service.
    public let isPrimary: Bool

    /// The service's handle on the peripheral, if the radio tells; for listings.
    package let handle: UInt16?

    /// A service of the app's own.
    init(uuid: CBUUID, isPrimary: Bool) {
        self.isPrimary = isPrimary
        handle = nil
        fields = LockedState(Fields())
        super.init(uuid: uuid)
    }

    /// A service found at a peripheral.
    init(_ record: ServiceRecord, on link: LinkID, of peripheral: CBPeripheral) {
        isPrimary = record.isPrimary
        handle = record.handle
        fields = LockedState(Fields(peripheral: peripheral))
        super.init(uuid: CBUUID(record.uuid), reference: AttributeReference(link: link, id: record.id))
    }

    /// The peripheral, if it is alive; nil for a service of the app's own.
    open var peripheral: CBPeripheral? { fields.withLock { $0.peripheral } }

    /// The included services found so far; nil before any discovery.
    open var includedServices: [CBService]? { fields.withLock { $0.includedServices } }

    /// The characteristics found so far, in handle order of each discovery; nil before any.
    open var characteristics: [CBCharacteristic]? { fields.withLock { $0.characteristics } }

    func append(included: [CBService]) {
        fields.withLock { $0.includedServices = ($0.includedServices ?? []) + included }
    }

    func append(_ characteristics: [CBCharacteristic]) {
        fields.withLock { $0.characteristics = ($0.characteristics ?? []) + characteristics }
    }

    func removeIncluded(_ gone: Set<ObjectIdentifier>) {
        fields.withLock { $0.includedServices?.removeAll { gone.contains(ObjectIdentifier($0)) } }
    }

    /// `<CBService: 0x1234, isPrimary = YES, UUID = Battery>`.
    open override var description: String {
        describe(self, ["isPrimary": isPrimary ? "YES" : "NO", "UUID": uuid.description])
    }
}
