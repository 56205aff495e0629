import BluetoothBackend
import BluetoothLocking
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

    /// All devices, in the order in which they were added.
    public var devices: [EmulatedDevice] {
        core.withLock { $0.world.devices.refs }.map { EmulatedDevice(emulator: self, ref: $0) }
    }

    /// How many advertising packets were sent so far; packets that nobody listens to are not sent.
    public var advertisingPackets: Int {
        Int(core.withLock { $0.world.packets })
    }
}
