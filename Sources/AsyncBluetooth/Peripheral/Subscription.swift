import CoreBluetooth

/// The consumers of a characteristic's notifications, and how far the subscription is.
struct Subscription {
    /// How far it is on the present link.
    enum Phase {
        case off, turningOn, on, turningOff
    }

    struct Consumer {
        let number: Int
        let deliver: @Sendable (Data) -> Void
        let finish: @Sendable ((any Error)?) -> Void
    }

    var consumers: [Consumer] = []
    var phase = Phase.off
    /// The characteristic on the present link, once it was found.
    var characteristic: CBCharacteristic?
    /// Those who wait until it is on.
    var waiters: [Waiter<Answer>] = []
    /// Those who wait until it is off.
    var endWaiters: [Waiter<Answer>] = []
}
