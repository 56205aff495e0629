public import BluetoothBackend
public import BluetoothSupport

// The controls of attributes by position, for devices whose UUIDs are not unique.
extension EmulatedDevice {
    /// The position of an attribute; nil for a removed attribute, for a 2902 descriptor, and in the services 1800 and
    /// 1801.
    public func position(of attribute: AttributeID) -> AttributePosition? {
        device?.server.position(of: attribute)
    }

    /// The attribute at a position; nil if the position is empty.
    public func attribute(at position: AttributePosition) -> AttributeID? {
        device?.server.attribute(at: position)
    }

    /// Stores the value of a characteristic, and notifies or indicates it to subscribers.
    ///
    /// If the position has no characteristic, this only adds a line to the trace.
    public func notify(at position: AttributePosition, value: Data) { control(.notify(.position(position), value)) }

    /// Stores the value of a characteristic or a descriptor, without notifying it.
    ///
    /// If the position has neither, this only adds a line to the trace.
    public func setValue(_ value: Data, at position: AttributePosition) {
        control(.setValue(.position(position), value))
    }

    /// The stored value of a characteristic or a descriptor; nil if the position has neither.
    public func value(at position: AttributePosition) -> Data? {
        guard let server = device?.server, let id = server.attribute(.position(position)) else { return nil }
        return server.database[id]?.value
    }

    /// The number of links that subscribe to a characteristic; 0 if the position has no characteristic.
    public func subscriberCount(at position: AttributePosition) -> Int {
        emulator.core.withLock { $0.world.subscriberCount(.position(position), of: ref) }
    }

    /// Removes a service by its number, and indicates Service Changed to connected centrals.
    ///
    /// - Parameter number: ``AttributePosition/service``.
    public func removeService(number: Int) { control(.removeServiceNumber(number)) }
}
