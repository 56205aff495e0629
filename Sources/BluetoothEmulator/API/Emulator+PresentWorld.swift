import BluetoothBackend
import BluetoothSupport

extension Emulator {
    /// The world as it is now, as a description: for a world file, or for another emulator.
    ///
    /// Devices have their present names, values, services, advertisements, distances and remaining faults; hosts have their
    /// power and permission. A description does not contain links, bonds, the states of handlers and apps, handlers in
    /// Swift, nor the steps of the script that are still to come. The host "default" is left out while it is as every world has
    /// it.
    public var presentWorld: WorldDescription { core.withLock { $0.world.presentDescription } }
}

extension EmulatedDevice {
    /// The device as it is now, as a description; nil when it was removed.
    ///
    /// It contains what ``Emulator/presentWorld`` contains.
    public var presentDescription: PeripheralDescription? {
        emulator.core.withLock { $0.world.devices[ref]?.presentDescription }
    }

    /// The attributes that the device serves now, with their values; nil when it was removed.
    package var attributes: DeviceAttributes? {
        emulator.core.withLock { $0.world.attributes(of: ref) }
    }
}

/// The attributes of a device at one instant.
package struct DeviceAttributes: Hashable, Sendable {
    /// In the order of their handles.
    package let services: [TappedService]
    /// The stored values of characteristics and descriptors, by handle.
    package let values: [UInt16: Data]
    /// The number of links that subscribe to a characteristic, by the handle of its value; only those above 0.
    package let subscriberCounts: [UInt16: Int]
}
