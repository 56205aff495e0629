import CoreBluetooth

/// A remote device that is connected to a ``CBMPeripheralManager``.
///
/// Thread rule: all members may be used from any thread.
open class CBMCentral: CBMPeer {
    /// The central of CoreBluetooth; nil for a spec central that the peripheral role does not know.
    let wrapped: CBCentral?
    private let longestUpdate: Int

    init(_ central: CBCentral?, identifier: UUID, maximumUpdateValueLength: Int = 20) {
        wrapped = central
        longestUpdate = maximumUpdateValueLength
        super.init(identifier: identifier)
    }

    /// The number of bytes that one notification or indication to this central carries: the ATT MTU less 3, at most
    /// 512.
    open var maximumUpdateValueLength: Int { wrapped?.maximumUpdateValueLength ?? longestUpdate }

    /// Whether both are the same device.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CBMCentral)?.identifier == identifier }

    /// A hash of the identifier.
    open override var hash: Int { identifier.hashValue }
}

/// A central of the selected backend.
public class CBMCentralNative: CBMCentral {
    /// The central of CoreBluetooth.
    public let central: CBCentral

    init(_ central: CBCentral) {
        self.central = central
        super.init(central, identifier: central.identifier)
    }
}

/// A central of a simulated world.
open class CBMCentralMock: CBMCentral {}
