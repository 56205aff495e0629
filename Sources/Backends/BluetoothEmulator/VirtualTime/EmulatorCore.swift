import BluetoothBackend
import DequeModule
import Synchronization

/// The state that an emulator's lock guards: the world, the sinks of its outputs, and virtual time.
struct EmulatorCore: Sendable {
    var world: World
    /// The sinks of the active managers; a manager without a sink receives nothing.
    private var sinks: [Ref<Manager>: RoleSink] = [:]
    /// The sink of the last event, cached because the next event usually has the same one.
    private var recent: (manager: Ref<Manager>, sink: RoleSink)?
    /// The calls that the clock owes, by alarm.
    var calls: [UInt64: @Sendable () -> Void] = [:]
    /// The instant that the real timer is set to, in real nanoseconds since the world began.
    var armed: UInt64?
    #if os(Linux)
    /// The real timer, from its first use on.
    var timer: WorldTimer?
    #endif
    var virtual = VirtualTimeState()
    var taps = Taps()
    /// The instant of the output that is being dispatched, or at which virtual time stopped.
    let deliveryTime: DeliveryTime

    init(world: World, _ deliveryTime: DeliveryTime) { (self.world, self.deliveryTime) = (world, deliveryTime) }

    /// Work that an output causes and that must run outside the lock.
    typealias SideEffect = @Sendable (Emulator) -> Void

    /// The work that must be done outside the lock, in this order.
    struct FollowUp: Sendable {
        var sideEffects: [SideEffect] = []
        /// The deliveries to start or to run.
        var deliveries: [any PendingDelivery] = []
    }

    enum Dispatched: Sendable {
        /// The manager or the call no longer exists.
        case dropped
        /// The sink has the event; the delivery, if any, must be started or run.
        case delivered(RoleSink, (any PendingDelivery)?)
        /// The output went to the taps, for which the drive waits only at the end of the instant.
        case tapped
        case sideEffect(SideEffect)
    }

    mutating func attach(_ sink: RoleSink, to manager: Ref<Manager>) {
        sinks[manager] = sink
    }

    /// Forgets a manager's sink.
    ///
    /// - Returns: The sink, which must be released outside the lock.
    mutating func detach(_ manager: Ref<Manager>) -> RoleSink? {
        if recent?.manager == manager { recent = nil }
        return sinks.removeValue(forKey: manager)
    }

    /// All sinks in the order of their managers, then those of the taps that virtual time waits for.
    var allSinks: [RoleSink] {
        let managers = sinks.sorted { $0.key < $1.key }.map(\.value)
        return taps.isEmpty ? managers : managers + taps.unsettled.map(RoleSink.tap)
    }

    /// Dispatches one output to its sink, or returns it as a side effect.
    ///
    /// Runs no code except the sink's append.
    mutating func dispatch(_ output: WorldOutput) -> Dispatched {
        deliveryTime.set(world.lower.context.now)
        switch output {
        case .central(let manager, let event):
            guard let sink = sink(of: manager), case .central(let events) = sink else { return .dropped }
            return .delivered(sink, events.append(event))
        case .peripheral(let manager, let event):
            guard let sink = sink(of: manager), case .peripheral(let events) = sink else { return .dropped }
            return .delivered(sink, events.append(event))
        case .pairing(let manager, let event):
            guard let sink = sink(of: manager), case .pairing(let events) = sink else { return .dropped }
            return .delivered(sink, events.append(event))
        case .alarm(let number):
            return calls.removeValue(forKey: number).map { call in .sideEffect { _ in call() } } ?? .dropped
        case .call(let call): return .sideEffect { $0.call(call) }
        case .tapped(let event):
            taps.deliver(event)
            return .tapped
        case .tapBegins(let number, let events):
            taps.begin(number, with: events)
            return .tapped
        }
    }

    private mutating func sink(of manager: Ref<Manager>) -> RoleSink? {
        if let recent, recent.manager == manager { return recent.sink }
        guard let sink = sinks[manager] else { return nil }
        recent = (manager, sink)
        return sink
    }

    /// Runs the world until `limit` without waiting for any sink, as in real time.
    mutating func run(until limit: Nanoseconds, _ followUp: inout FollowUp) {
        repeat {
            while let output = world.lower.context.outputs.popFirst() {
                switch dispatch(output) {
                case .sideEffect(let sideEffect): followUp.sideEffects.append(sideEffect)
                case .delivered(_, let delivery?): followUp.deliveries.append(delivery)
                case .delivered, .tapped, .dropped: break
                }
            }
        } while world.step(until: limit)
    }
}

/// The instant of the output that an emulator dispatches, for readers that must not take the emulator's lock: sinks, which
/// run under it, and tasks.
final class DeliveryTime: Sendable {
    private let nanoseconds = Atomic<Nanoseconds>(0)

    var value: Duration { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }

    func set(_ present: Nanoseconds) { nanoseconds.store(present, ordering: .relaxed) }
}

/// The sink of the events of a manager in any role, or of a tap.
enum RoleSink: Sendable {
    case central(any EventSink<CentralEvent>)
    case peripheral(any EventSink<PeripheralEvent>)
    case pairing(any EventSink<PairingEvent>)
    case tap(TapReceiver)

    private var events: any EventSink {
        switch self {
        case .central(let sink): sink
        case .peripheral(let sink): sink
        case .pairing(let sink): sink
        case .tap(let receiver): receiver
        }
    }

    var label: String { events.label }

    func appendMarker(_ body: @escaping @Sendable () -> Void) -> (any PendingDelivery)? { events.appendMarker(body) }
}
