import BluetoothBackend
import BluetoothSupport
import Synchronization

extension Emulator {
    /// Puts a device on the air.
    ///
    /// - Throws: ``DescriptionError`` when its address is taken.
    @discardableResult
    public func add(_ peripheral: EmulatedPeripheral) throws -> EmulatedDevice {
        let added = perform { core in
            Result { try core.world.addDevice(peripheral) }
        }
        return EmulatedDevice(emulator: self, ref: try added.get())
    }

    /// Puts a device on the air that serves what its description holds.
    ///
    /// - Throws: ``DescriptionError`` naming the impossible field and the rule.
    @discardableResult
    public func add(_ description: PeripheralDescription) throws -> EmulatedDevice {
        try add(EmulatedPeripheral(description))
    }

    /// All described devices, in the order in which they were added.
    ///
    /// What peripheral managers publish is ``EmulatedHost/peripheral``.
    public var devices: [EmulatedDevice] {
        core.withLock { core in core.world.devices.refs.filter { core.world.devices[$0]?.host == nil } }.map {
            EmulatedDevice(emulator: self, ref: $0)
        }
    }

    /// The described device of that name, the first one in the order of ``devices``; nil if there is none.
    ///
    /// - Parameter name: The name of its description, which need not be the one that it advertises.
    public func device(named name: String) -> EmulatedDevice? { devices.first { $0.name == name } }

    /// How many advertising packets were sent so far; packets that nobody listens to are not sent.
    public var advertisingPackets: Int {
        Int(core.withLock { $0.world.air.packets })
    }
}
