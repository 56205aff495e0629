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
    private let fields: Lock<Unchecked<Fields>>

    /// Whether it is a primary service.
    public let isPrimary: Bool

    /// The service's handle on the peripheral, if the radio tells; for listings.
    package let handle: UInt16?

    /// A service of the app's own.
    init(uuid: CBUUID, isPrimary: Bool) {
        self.isPrimary = isPrimary
        handle = nil
        fields = Lock(Unchecked(Fields()))
        super.init(uuid: uuid)
    }

    /// A service found at a peripheral.
    init(_ record: ServiceRecord, on link: LinkID, of peripheral: CBPeripheral) {
        isPrimary = record.isPrimary
        handle = record.handle
        fields = Lock(Unchecked(Fields(peripheral: peripheral)))
        super.init(uuid: CBUUID(record.uuid), reference: AttributeReference(link: link, id: record.id))
    }

    /// The peripheral, if it is alive; nil for a service of the app's own.
    open var peripheral: CBPeripheral? { fields.withLock { Unchecked($0.value.peripheral) }.value }

    /// The included services found so far; nil before any discovery.
    open var includedServices: [CBService]? { fields.withLock { Unchecked($0.value.includedServices) }.value }

    /// The characteristics found so far, in handle order of each discovery; nil before any.
    open var characteristics: [CBCharacteristic]? { fields.withLock { Unchecked($0.value.characteristics) }.value }

    func append(included: [CBService]) {
        let new = Unchecked(included)
        fields.withLock { $0.value.includedServices = ($0.value.includedServices ?? []) + new.value }
    }

    func append(_ characteristics: [CBCharacteristic]) {
        let new = Unchecked(characteristics)
        fields.withLock { $0.value.characteristics = ($0.value.characteristics ?? []) + new.value }
    }

    func removeIncluded(_ gone: Set<ObjectIdentifier>) {
        fields.withLock { $0.value.includedServices?.removeAll { gone.contains(ObjectIdentifier($0)) } }
    }

    /// `<CBService: 0x1234, isPrimary = YES, UUID = Battery>`.
    open override var description: String {
        describe(self, ["isPrimary": isPrimary ? "YES" : "NO", "UUID": uuid.description])
    }
}
