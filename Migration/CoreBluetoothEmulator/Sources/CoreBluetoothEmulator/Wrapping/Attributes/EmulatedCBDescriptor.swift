public import CoreBluetooth

// Invariant: `fields` are reached under their lock; all else is constant.
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
    /// The descriptor of the peripheral manager, where there is one.
    let server: EmulatedCBMutableDescriptor?
    private let fields: Guarded<Fields>

    /// A descriptor of a peripheral manager.
    init(uuid: CBUUID, value: Any?) {
        self.uuid = uuid
        core = nil
        server = nil
        fields = Guarded(Fields(value: value))
        super.init()
    }

    /// A discovered descriptor: over the air, at a peripheral manager, or both.
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

    /// The value that was last read: of the type that the peripheral manager's descriptor has, `NSNumber` for 2902.
    public var value: Any? { fields.withLock { $0.value } }

    /// The type.
    public override var description: String { "<\(type(of: self)): UUID = \(uuid)>" }

    func setCharacteristic(_ characteristic: EmulatedCBCharacteristic?) {
        fields.withLock { $0.characteristic = characteristic }
    }

    func setValue(_ value: Any?) { fields.withLock { $0.value = value } }
}

// Invariant: as of the superclass.
/// A descriptor of a peripheral manager, of any type, which keeps its value: what centrals read, and the last that they
/// wrote.
public class EmulatedCBMutableDescriptor: EmulatedCBDescriptor, @unchecked Sendable {
    /// Who may read and write.
    let permissions: CBAttributePermissions

    /// Creates a descriptor that belongs to no characteristic yet.
    ///
    /// - Parameters:
    ///   - type: The descriptor's type.
    ///   - value: The value at first.
    ///   - permissions: Who may read and write.
    public init(type: CBUUID, value: Any?, permissions: CBAttributePermissions = [.readable, .writeable]) {
        self.permissions = permissions
        super.init(uuid: type, value: value)
    }
}
