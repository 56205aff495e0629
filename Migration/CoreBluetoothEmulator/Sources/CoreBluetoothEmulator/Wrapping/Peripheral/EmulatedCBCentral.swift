import BluetoothBackend
public import CoreBluetooth

// Invariant: all fields are constant.
/// A central as a peripheral manager knows it.
public final class EmulatedCBCentral: NSObject, EmulatedCBPeer, @unchecked Sendable {
    /// The identifier of its central manager; for a central of another kind, that on this host.
    public let identifier: UUID
    /// The central of CoreBluetooth; nil without a connection.
    let core: CBCentral?
    private let world: EmulatedWorld

    init(identifier: UUID, _ core: CBCentral?, in world: EmulatedWorld) {
        self.identifier = identifier
        self.core = core
        self.world = world
        super.init()
    }

    /// The number of bytes that one notification carries: the ATT MTU less 3, at most 512.
    public var maximumUpdateValueLength: Int {
        core?.maximumUpdateValueLength ?? min(512, world.configuration.initialMTU - 3)
    }

    /// The identifier.
    public override var description: String { "<\(Self.self): identifier = \(identifier)>" }
}
