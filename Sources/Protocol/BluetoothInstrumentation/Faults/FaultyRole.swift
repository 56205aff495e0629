import BluetoothBackend
import BluetoothSupport
import Synchronization

/// A role with the faults of a plan: runs the fault machine of one manager between the backend and the manager's sink.
///
/// The backend may deliver under its lock, so an event is only stored there; it is handled on the receiver's queue,
/// where the clock may be read and commands may be submitted. Actions are performed in the order in which they arose,
/// by one thread at a time and outside the lock.
final class FaultyRole<Base: RoleBackend, Machine: FaultMachine>: RoleBackend, EventSink
where Base.Command == Machine.Command, Base.Event == Machine.Event {
    typealias Command = Machine.Command
    typealias Event = Machine.Event

    private struct State {
        var machine: Machine
        var arrived: [Machine.Event] = []
        var actions: [Machine.Action] = []
        var isPerforming = false
        var sink: (any EventSink<Machine.Event>)?
        var isInvalidated = false
    }

    private let state: Lock<State>
    private let clock: any BackendClock
    private let heldBack: HeldBackCount
    private let base: Base

    init(_ base: Base, _ machine: Machine, clock: any BackendClock, heldBack: HeldBackCount) {
        self.base = base
        state = Lock(State(machine: machine))
        self.clock = clock
        self.heldBack = heldBack
    }

    func activate(_ sink: any EventSink<Machine.Event>) {
        state.withLock { $0.sink = sink }
        base.activate(self)
    }

    func submit(_ command: Machine.Command) {
        run { $0.command(command, now: $1) }
    }

    func invalidate() {
        base.invalidate()
        run { machine, _ in
            machine.dropAll()
            return []
        }
        let left = state.withLock { state -> ([Machine.Action], (any EventSink<Machine.Event>)?) in
            state.isInvalidated = true
            defer { (state.actions, state.arrived, state.sink) = ([], [], nil) }
            return (state.actions, state.sink)
        }
        for case .settle(let body) in left.0 { body() }
    }

    // MARK: EventSink, for the backend

    var label: String { state.withLock { $0.sink }?.label ?? "" }

    func deliver(_ event: Machine.Event) { append(event)?.start() }

    func append(_ event: Machine.Event) -> (any PendingDelivery)? {
        let sink = state.withLock { state in
            state.arrived.append(event)
            return state.sink
        }
        return sink?.appendMarker { [self] in handleArrived() }
    }

    /// Calls `body` without waiting for delayed items: they are timers of the clock, and a driver of virtual time would
    /// wait for its next step.
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { appendMarker(body)?.start() }

    func appendMarker(_ body: @escaping @Sendable () -> Void) -> (any PendingDelivery)? {
        guard let sink = state.withLock({ $0.sink }) else {
            body()
            return nil
        }
        return sink.appendMarker { [self] in
            let isLate = state.withLock { state in
                if !state.isInvalidated { state.actions.append(.settle(body)) }
                return state.isInvalidated
            }
            isLate ? body() : perform()
        }
    }

    private func handleArrived() {
        let now = clock.now
        change { state in
            defer { state.arrived = [] }
            return state.arrived.flatMap { state.machine.event($0, now: now) }
        }
    }

    // MARK: Actions

    private func run(_ body: (inout Machine, Duration) -> [Machine.Action]) {
        let now = clock.now
        change { body(&$0.machine, now) }
    }

    private func change(_ body: (inout State) -> [Machine.Action]) {
        let change = state.withLock { state -> Int in
            guard !state.isInvalidated else { return 0 }
            let before = state.machine.delayed.count
            state.actions += body(&state)
            return state.machine.delayed.count - before
        }
        heldBack.add(change)
        perform()
    }

    private func perform() {
        while let (action, sink) = nextAction() {
            switch action {
            case .pass(.command(let command)): base.submit(command)
            case .pass(.event(let event)): sink?.deliver(event)
            case .settle(let body): sink?.afterDelivery(body)
            case .wake(let line, let delay):
                clock.schedule(after: delay) { [weak self] in self?.run { $0.wake(line, now: $1) } }
            }
            state.withLock { $0.isPerforming = false }
        }
    }

    private func nextAction() -> (Machine.Action, (any EventSink<Machine.Event>)?)? {
        state.withLock { state in
            guard !state.isPerforming, !state.actions.isEmpty else { return nil }
            state.isPerforming = true
            return (state.actions.removeFirst(), state.sink)
        }
    }
}

extension FaultyRole: CentralBackend where Base: CentralBackend {
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] { base.knownPeers(ids) }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        base.connectedPeers(offering: services)
    }
}

extension FaultyRole: PeripheralBackend where Base: PeripheralBackend {}

/// The number of delayed items of all roles of one backend.
final class HeldBackCount: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add(_ change: Int) {
        if change != 0 { value.add(change, ordering: .relaxed) }
    }
}
