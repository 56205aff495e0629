import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device that notifies as soon as it is connected, and once more just before it confirms a subscription.
    ///
    /// Finds apps that take the first value for a sign that the subscription was confirmed, or that set up what handles
    /// values only in `didUpdateNotificationStateFor`.
    public static let notifiesTooEarly = hostile("Notifies Too Early", services: [.plain], handler: .notifiesTooEarly)
}

/// Notifies "A" on connection, which the host drops, and "B" between the subscription and its confirmation.
public struct EarlyNotifier: EmulatedPeripheralHandler {
    /// A device that cannot wait.
    public init() {}

    /// Notifies.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        switch event {
        case .connected: device.notifyAtOnce("FFF1", value: Data("A".utf8))
        case .subscribed: device.notifyAtOnce("FFF1", value: Data("B".utf8))
        default: break
        }
    }
}
