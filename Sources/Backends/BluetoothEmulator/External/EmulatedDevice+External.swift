package import BluetoothBackend
import BluetoothSupport

// The device of a host outside of the emulator.
extension EmulatedDevice {
    /// Replaces all services, with their handles, by those that the host serves; accesses are checked by the host.
    ///
    /// - Parameter isIndicated: Whether connected centrals get Service Changed.
    package func replaceServices(_ services: [TappedService], isIndicated: Bool) {
        control(.replaceServices(services, isIndicated: isIndicated))
    }

    /// The handle of a service's declaration, of a characteristic's value or of a descriptor; nil if there is none.
    package func handle(of attribute: AttributeID) -> UInt16? { device?.server.database[attribute]?.handle }

    /// The open links of the device.
    package var connections: [TappedConnection] {
        emulator.core.withLock { core in
            core.world.lower.air.links(of: ref).compactMap { core.world.tapped($0) }
        }
    }

    /// The attributes by their handles, those of the services 1800 and 1801 included.
    package var attributesByHandle: [UInt16: AttributeID] { device?.server.database.byHandle ?? [:] }
}
