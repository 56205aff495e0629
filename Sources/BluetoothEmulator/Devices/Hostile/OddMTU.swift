import BluetoothBackend

extension PeripheralDescription {
    /// A device with an MTU of 27 bytes, which is changed to 24, then to 517, then to 23 when a central is connected for
    /// one, two and three seconds.
    ///
    /// Finds apps that ask once how much they may write, that take 20 or 182 for granted, or that cut a message while
    /// its size changes.
    public static let oddMTU = hostile("Odd MTU", services: [.plain], maximumMTU: 27, handler: .oddMTU)
}

/// Exchanges the MTU when nobody expects it any more.
public struct OddMTUHandler: EmulatedPeripheralHandler {
    static let sizes = [24, 517, 23]

    /// A device that changes its mind.
    public init() {}

    /// Changes the MTU after one, two and three seconds of a connection.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        switch event {
        case .connected:
            for index in Self.sizes.indices { device.startTimer(index, after: .seconds(index + 1)) }
        case .disconnected: for index in Self.sizes.indices { device.stopTimer(index) }
        case .timer(let index) where Self.sizes.indices.contains(index): device.exchangeMTU(Self.sizes[index])
        default: break
        }
    }
}
