import BluetoothBackend
import BluetoothSupport

extension EmulatedDevice {
    /// The present device as a description; nil if the device was removed.
    ///
    /// The description contains what ``Emulator/presentWorld`` contains.
    public var presentDescription: PeripheralDescription? { device?.presentDescription }

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
