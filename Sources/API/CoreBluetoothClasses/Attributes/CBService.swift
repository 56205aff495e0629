import BluetoothBackend
import BluetoothSupport
import Foundation

/// A service of a peripheral.
///
/// Source: Apple, CBService.
open class CBService: CBAttribute {
    private struct Fields {
        weak var peripheral: CBPeripheral?
        var includedServices: [CBService]?
        var characteristics: [CBCharacteristic]?
    }

    // Invariant: accessed under this lock.
    private let fields: LockedState<Fields>

    /// Whether the service is a primary service.
    public let isPrimary: Bool

    /// Creates a service of the app.
    init(uuid: CBUUID, isPrimary: Bool) {
        self.isPrimary = isPrimary
        fields = LockedState(Fields())
        super.init(uuid: uuid)
    }

    /// Creates a service that was found at a peripheral.
    init(_ record: ServiceRecord, on link: LinkID, of peripheral: CBPeripheral) {
        isPrimary = record.isPrimary
        fields = LockedState(Fields(peripheral: peripheral))
        super.init(
            uuid: CBUUID(record.uuid), reference: AttributeReference(link: link, id: record.id), handle: record.handle)
    }

    /// The peripheral, if it is alive; nil for a service of the app.
    open var peripheral: CBPeripheral? { fields.withLock { $0.peripheral } }

    /// The included services found so far; nil before any discovery.
    open var includedServices: [CBService]? { fields.withLock { $0.includedServices } }

    /// The characteristics found so far, in handle order of each discovery; nil before any discovery.
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

/// A service of the local GATT database.
///
/// Change it before it is added to a ``CBPeripheralManager``: while it is published it is frozen, and changes are
/// ignored with a log line. Not thread-safe: use it from one thread, or from the manager's queue. Source: Apple,
/// CBMutableService.
open class CBMutableService: CBService {
    private var ownIncludedServices: [CBService]?
    private var ownCharacteristics: [CBCharacteristic]?

    let publication = Publication()

    /// Creates a service that is not published yet.
    ///
    /// - Parameters:
    ///   - UUID: The service's type.
    ///   - isPrimary: Whether it is a primary service; a secondary one is meant to be included by another.
    public init(type UUID: CBUUID, primary isPrimary: Bool) {
        super.init(uuid: UUID, isPrimary: isPrimary)
    }

    /// The services that this one includes.
    ///
    /// Included services must be published before this one.
    open override var includedServices: [CBService]? {
        get { ownIncludedServices }
        set { if publication.allowsChange(of: self, "includedServices") { ownIncludedServices = newValue } }
    }

    /// The service's characteristics.
    ///
    /// Setting them makes this their `service`, weakly; those left out lose it.
    open override var characteristics: [CBCharacteristic]? {
        get { ownCharacteristics }
        set {
            guard publication.allowsChange(of: self, "characteristics") else { return }
            for characteristic in ownCharacteristics ?? [] where characteristic.service === self {
                characteristic.service = nil
            }
            ownCharacteristics = newValue
            for characteristic in newValue ?? [] { characteristic.service = self }
        }
    }
}
