public import CoreBluetooth

// Invariant: `fields` are accessed under their lock; the rest is constant.
/// A descriptor that a central discovered.
///
/// Readable from any thread; changes on the queue of the central manager.
public class EmulatedCBDescriptor: NSObject, @unchecked Sendable {
    private struct Fields {
        weak var characteristic: EmulatedCBCharacteristic?
        var value: Any?
    }

    /// The descriptor's type.
    public let uuid: CBUUID
    /// The descriptor that was discovered over the air; nil for others.
    let core: CBDescriptor?
    /// The descriptor of the peripheral manager, if it has one.
    let server: EmulatedCBMutableDescriptor?
    private let fields: Guarded<Fields>

    /// Creates a descriptor of a peripheral manager.
    init(uuid: CBUUID, value: Any?) {
        self.uuid = uuid
        core = nil
        server = nil
        fields = Guarded(Fields(value: value))
        super.init()
    }

    /// Creates a discovered descriptor: over the air, at a peripheral manager, or both.
    init(
        uuid: CBUUID, _ core: CBDescriptor?, _ server: EmulatedCBMutableDescriptor?,
        of characteristic: EmulatedCBCharacteristic
    ) {
        self.uuid = uuid
        self.core = core
        self.server = server
        fields = Guarded(Fields(characteristic: characteristic, value: core?.value))
        super.init()
    }

    /// The characteristic, if it is alive.
    public var characteristic: EmulatedCBCharacteristic? { fields.withLock { $0.characteristic } }

    /// The value that was last read, in the type of the peripheral manager's descriptor; `NSNumber` for 2902.
    public var value: Any? { fields.withLock { $0.value } }

    /// The type.
    public override var description: String { "<\(type(of: self)): UUID = \(uuid)>" }

    func setCharacteristic(_ characteristic: EmulatedCBCharacteristic?) {
        fields.withLock { $0.characteristic = characteristic }
    }

    func setValue(_ value: Any?) { fields.withLock { $0.value = value } }
}

// Invariant: that of the superclass.
/// A descriptor of a peripheral manager, of any type, which stores its value: the one that centrals read, and last
/// wrote.
public class EmulatedCBMutableDescriptor: EmulatedCBDescriptor, @unchecked Sendable {
    /// The permissions for reads and writes.
    let permissions: CBAttributePermissions

    /// Creates a descriptor that belongs to no characteristic yet.
    ///
    /// - Parameters:
    ///   - type: The descriptor's type.
    ///   - value: The initial value.
    ///   - permissions: The permissions for reads and writes.
    public init(type: CBUUID, value: Any?, permissions: CBAttributePermissions = [.readable, .writeable]) {
        self.permissions = permissions
        super.init(uuid: type, value: value)
    }
}
