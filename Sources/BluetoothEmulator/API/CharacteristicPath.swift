public import BluetoothBackend

/// Names a characteristic of a device: by UUID and, where that is not unique, by service and position.
public struct CharacteristicPath: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The service's UUID; nil looks in all.
    public var service: BluetoothUUID?
    /// The characteristic's UUID.
    public var uuid: BluetoothUUID
    /// Which one among those that match, in handle order, from 0 on.
    public var index: Int

    /// Names a characteristic.
    public init(_ uuid: BluetoothUUID, service: BluetoothUUID? = nil, index: Int = 0) {
        self.service = service
        self.uuid = uuid
        self.index = max(0, index)
    }

    /// The first characteristic of a UUID in source code; traps when the literal is none.
    public init(stringLiteral text: String) {
        self.init(BluetoothUUID(stringLiteral: text))
    }
}
