public import CoreBluetooth

// Invariant: `fields` are accessed under their lock; the rest is constant.
/// A service that a central discovered.
///
/// Readable from any thread; changes on the queue of the central manager.
public class EmulatedCBService: NSObject, @unchecked Sendable {
    private struct Fields {
        weak var peripheral: EmulatedCBPeripheral?
    }

    /// The service's type.
    public let uuid: CBUUID
    /// Whether it is a primary service.
    public let isPrimary: Bool
    /// The discovered service; nil for a service of a peripheral manager.
    let core: CBService?
    private let fields: Guarded<Fields>

    /// Creates a service of a peripheral manager.
    init(uuid: CBUUID, isPrimary: Bool) {
        self.uuid = uuid
        self.isPrimary = isPrimary
        core = nil
        fields = Guarded(Fields())
        super.init()
    }

    /// Creates a discovered service.
    init(_ core: CBService, of peripheral: EmulatedCBPeripheral) {
        uuid = core.uuid
        isPrimary = core.isPrimary
        self.core = core
        fields = Guarded(Fields(peripheral: peripheral))
        super.init()
    }

    /// The peripheral on which it was discovered, if it is alive; nil for a service of a peripheral manager.
    public var peripheral: EmulatedCBPeripheral? { fields.withLock { $0.peripheral } }

    /// The included services that were discovered; nil before any discovery.
    public var includedServices: [EmulatedCBService]? {
        guard let peripheral else { return nil }
        return core?.includedServices?.map(peripheral.service)
    }

    /// The characteristics that were discovered; nil before any discovery.
    public var characteristics: [EmulatedCBCharacteristic]? {
        guard let peripheral else { return nil }
        return core?.characteristics?.map(peripheral.characteristic)
    }

    /// The type.
    public override var description: String { "<\(type(of: self)): UUID = \(uuid)>" }
}

/// A service of a peripheral manager.
///
/// Change it before it is added: the manager publishes its present state. Use it from one thread, or from the manager's
/// queue.
public class EmulatedCBMutableService: EmulatedCBService, @unchecked Sendable {
    private struct Contents {
        var included: [EmulatedCBService]?
        var characteristics: [EmulatedCBCharacteristic]?
    }

    private let contents = Guarded(Contents())

    /// Creates a service without content.
    ///
    /// - Parameters:
    ///   - type: The service's type.
    ///   - primary: Whether a discovery of services finds it; others are only included.
    public init(type: CBUUID, primary: Bool) {
        super.init(uuid: type, isPrimary: primary)
    }

    /// The included services, which must be published before it.
    public override var includedServices: [EmulatedCBService]? {
        get { contents.withLock { $0.included } }
        set { contents.withLock { $0.included = newValue } }
    }

    /// The characteristics; setting them makes this their `service`.
    public override var characteristics: [EmulatedCBCharacteristic]? {
        get { contents.withLock { $0.characteristics } }
        set {
            let old = contents.withLock { contents in
                defer { contents.characteristics = newValue }
                return contents.characteristics
            }
            for characteristic in old ?? [] where characteristic.service === self { characteristic.setService(nil) }
            for characteristic in newValue ?? [] { characteristic.setService(self) }
        }
    }

    /// The characteristics that a manager can publish.
    var mutableCharacteristics: [EmulatedCBMutableCharacteristic] {
        (characteristics ?? []).compactMap { $0 as? EmulatedCBMutableCharacteristic }
    }
}
