public import BluetoothBackend
public import BluetoothSupport

// The controls of attributes by their place, for devices whose UUIDs do not distinguish them.
extension EmulatedDevice {
    /// The place of an attribute; nil for one that was removed, for 2902, and in the services 1800 and 1801.
    public func position(of attribute: AttributeID) -> AttributePosition? {
        emulator.core.withLock { $0.world.devices[ref]?.server.position(of: attribute) }
    }

    /// The attribute at a place; nil if there is none.
    public func attribute(at position: AttributePosition) -> AttributeID? {
        emulator.core.withLock { $0.world.devices[ref]?.server.attribute(at: position) }
    }

    /// Stores the value of a characteristic, and notifies (or indicates it to) subscribers.
    ///
    /// Without a characteristic at that place it does nothing, with a line in the trace.
    public func notify(at position: AttributePosition, value: Data) { control(.notify(.position(position), value)) }

    /// Stores the value of a characteristic or a descriptor, without notifying it.
    ///
    /// Without one at that place it does nothing, with a line in the trace.
    public func setValue(_ value: Data, at position: AttributePosition) {
        control(.setValue(.position(position), value))
    }

    /// The stored value of a characteristic or a descriptor; nil if there is none at that place.
    public func value(at position: AttributePosition) -> Data? {
        emulator.core.withLock { core in
            guard let server = core.world.devices[ref]?.server, let id = server.attribute(.position(position)) else {
                return nil
            }
            return server.database[id]?.value
        }
    }

    /// The number of links that subscribe to a characteristic; 0 if there is none at that place.
    public func subscriberCount(at position: AttributePosition) -> Int {
        emulator.core.withLock { $0.world.subscriberCount(.position(position), of: ref) }
    }

    /// Removes a service by its number, with Service Changed to those who are connected.
    ///
    /// - Parameter number: ``AttributePosition/service``.
    public func removeService(number: Int) { control(.removeServiceNumber(number)) }
}
