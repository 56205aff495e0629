#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import BluetoothBackend
import DequeModule

/// A physical link between a host and a device: ATT with one request at a time, on connection events.
///
/// The client's operations stand in one line and go in order, one outstanding; the server's notifications stand in
/// another. An idle link schedules nothing: the instants of its connection events are computed.
struct Link: Sendable {
    /// What the server sends by itself.
    enum Outgoing: Sendable {
        case value(AttributeID, Data, needsConfirmation: Bool)
        case servicesChanged(removed: [AttributeID], added: [ServiceRecord])
    }

    enum Subscription: Sendable {
        case notifications
        case indications
    }

    let host: Int
    let device: Ref<Device>
    let peer: PeerID
    let interval: Nanoseconds
    let supervisionTimeout: Nanoseconds
    /// When the first connection event was.
    let anchor: Nanoseconds
    var mtu: Int

    var operations = Deque<LinkOperation>()
    /// A request is outstanding, or write commands wait for the next connection event.
    var isBusy = false
    /// The answer of a long read whose last parts are under way.
    var finishing: (operation: LinkOperation, event: CentralEvent)?
    /// The request that an asynchronous handler has.
    var asked: (number: UInt64, operation: LinkOperation)?
    var transactionTimeout: WorldQueue.Token?

    var outgoing = Deque<Outgoing>()
    var isSending = false
    /// The client characteristic configuration of this central.
    var subscriptions: [AttributeID: Subscription] = [:]

    /// Nothing is heard: the device is out of range.
    var isSilent = false
    /// The device does not know of the link any more; it will die by supervision timeout.
    var isLost = false
    var isClosing = false
    var supervision: WorldQueue.Token?
    /// What was due in silence.
    var missed: [WorldEvent] = []

    /// The first connection event at or after an instant.
    func connectionEvent(from instant: Nanoseconds) -> Nanoseconds {
        guard interval > 0 else { return instant }
        let (count, rest) = (instant - anchor).quotientAndRemainder(dividingBy: interval)
        return rest == 0 ? instant : anchor + (count + 1) * interval
    }
}

/// The world's queue.
typealias WorldQueue = EventQueue<WorldEvent, WorldInput>
