import BluetoothBackend
import BluetoothSupport

extension Emulator {
    /// The present world as a description, for a world file or another emulator.
    ///
    /// Devices have their present names, values, services, advertisements, distances and remaining faults; hosts have
    /// their power and permission. A description contains no links, bonds, states of handlers and apps, handlers in
    /// Swift, or script steps still to come. The host "default" is omitted if it is unchanged.
    public var presentWorld: WorldDescription { core.withLock { $0.world.presentDescription } }
}

extension EmulatedDevice {
    /// The present device as a description; nil if the device was removed.
    ///
    /// The description contains what ``Emulator/presentWorld`` contains.
    public var presentDescription: PeripheralDescription? {
        emulator.core.withLock { $0.world.lower.air.devices[ref]?.presentDescription }
    }

    /// The attributes that the device serves now, with their values; nil if the device was removed.
    package var attributes: DeviceAttributes? {
        emulator.core.withLock { core in core.world.lower.air.devices[ref].map(core.world.gatt.attributes) }
    }
}

/// The attributes of a device at one instant.
package struct DeviceAttributes: Hashable, Sendable {
    /// The services, in handle order.
    package let services: [TappedService]
    /// The stored values of characteristics and descriptors, by handle.
    package let values: [UInt16: Data]
    /// The number of links that subscribe to a characteristic, by the handle of its value; only numbers above 0.
    package let subscriberCounts: [UInt16: Int]
}
