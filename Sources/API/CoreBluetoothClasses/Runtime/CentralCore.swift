import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation

/// Joins a central manager with its backend: contains the machine, the inbox, the outbox and the objects.
///
/// An API call runs its transition on the caller's thread; an event runs its transition on the manager's queue, just
/// before its callback. A transition appends commands to the outbox; they are submitted outside of it, by one thread at
/// a time. App code runs under no lock. Peripherals retain the core, not the manager.
final class CentralCore: InboxOwner, EventSink {
    /// An item that waits for the manager's queue; it contains identifiers, never objects.
    enum Delivery: Sendable {
        case event(CentralEvent)
        case completion(CentralCompletion)
        case released(PeerHandle)
        /// The link's notifications were too many, and the link is to end.
        case overflow(LinkID)
    }

    private struct State {
        var machine: CentralStateMachine
        var registry = PeripheralRegistry()
        var outbox = Outbox<CentralCommand>()
        var isInvalidated = false

        /// Returns the object for a peer; a new object is registered with the machine.
        mutating func peripheral(_ id: PeerID, name: String?, of core: CentralCore) -> CBPeripheral {
            if let known = registry[id] { return known }
            let new = registry.insert(id) { CBPeripheral(core: core, handle: $0, name: name) }
            machine.adopt(new.handle, name: name)
            return new
        }
    }

    struct Owner {
        weak var manager: CBCentralManager?
        weak var delegate: (any CBCentralManagerDelegate)?
    }

    let backend: any BluetoothBackend
    let clock: any BackendClock
    let observer = Observation.observer
    private let role: any CentralBackend
    /// Answers pairings if the environment requests it.
    private let environmentAgent: EnvironmentPairing.Agent?
    let inbox: Inbox<CentralCore>
    let channels: ChannelTable
    // Invariant: accessed under this lock; objects that leave it are only used on the queue or given to the caller.
    private let state: LockedState<State>
    private let owner = LockedState(Owner())

    init(_ backend: any BluetoothBackend, _ options: [String: Any]?, queue: DispatchQueue?) {
        let roleOptions = RoleOptions(options, restoreKey: CBCentralManagerOptionRestoreIdentifierKey)
        self.backend = backend
        self.clock = backend.clock
        channels = ChannelTable(clock: clock)
        environmentAgent = EnvironmentPairing.process?.agent(on: backend)
        role = backend.wrappedAsAsked.makeCentral(roleOptions)
        inbox = Inbox(queue: queue ?? .main, limits: CBManagerLimits(options))
        let machine = CentralStateMachine(canRestore: roleOptions.restoreIdentifier != nil)
        state = LockedState(State(machine: machine))
    }

    /// Starts delivery for a manager that is complete.
    func activate(for manager: CBCentralManager, _ delegate: (any CBCentralManagerDelegate)?) {
        owner.withLock { $0 = Owner(manager: manager, delegate: delegate) }
        observer?.managerCreated(self)
        EnvironmentPairing.process?.add(self)
        role.activate(self)
    }

    /// Ends the scan and the links without a callback, because the manager is gone (S16).
    func invalidate() {
        let unanswered = state.withLock { state in
            state.isInvalidated = true
            state.outbox.close()
            return observer == nil ? [] : state.machine.unansweredCommands
        }
        observer?.commandsAbandoned(unanswered)
        role.invalidate()
        channels.endAll()
        inbox.close()
    }

    var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    // MARK: Owner

    var manager: CBCentralManager? {
        owner.withLock { $0.manager }
    }

    var delegate: (any CBCentralManagerDelegate)? {
        get { owner.withLock { $0.delegate } }
        set { owner.withLock { $0.delegate = newValue } }
    }

    // MARK: Transitions

    /// Runs a transition of the machine and performs its effects.
    func transition(_ body: (inout CentralStateMachine) -> [CentralEffect]) {
        transitionWithState { body(&$0.machine) }
    }

    private func transitionWithState(_ body: (inout State) -> [CentralEffect]) {
        let (effects, first) = state.withLock { state -> ([CentralEffect], CentralCommand?) in
            let effects = body(&state)
            for effect in effects {
                switch effect {
                case .submit(let command): state.outbox.append(command)
                case .complete(let completion): inbox.append(.completion(completion), for: self)?.start()
                default: break
                }
            }
            return (effects, state.outbox.beginSubmitting())
        }
        var next = first
        while let command = next {
            role.submit(command)
            next = state.withLock { $0.outbox.next() }
        }
        for effect in effects { perform(effect) }
    }

    func read<Result: Sendable>(_ body: (CentralStateMachine) -> Result) -> Result {
        state.withLock { body($0.machine) }
    }

    private func perform(_ effect: CentralEffect) {
        switch effect {
        case .submit, .complete: break
        case .misuse(let misuse): log(misuse)
        case .schedule(let completion, let delay):
            clock.schedule(after: delay) { [weak self] in
                guard let self else { return }
                inbox.append(.completion(completion), for: self)?.start()
            }
        case .invalidateAttributes(let id): peripheral(id)?.invalidateAttributes()
        case .invalidatePeripheral(let id):
            state.withLock { $0.registry.remove(id) }?.invalidateAttributes()
        case .invalidatePeripherals:
            let stale = state.withLock { $0.registry.removeAll() }
            stale.forEach { $0.invalidateAttributes() }
        case .closeChannel(let id): channels.release(id)
        case .callback(let callback): call(callback)
        }
    }

    private func call(_ callback: CentralCallback) {
        // Before the delivery, as the delegate may let the objects go.
        let observed = observer.map { _ in observation(of: callback) }
        deliver(callback)
        if let observed { observer?.delivered(observed) }
    }

    // MARK: Objects

    func peripheral(_ id: PeerID) -> CBPeripheral? {
        state.withLock { $0.registry[id] }
    }

    var livingPeripherals: [CBPeripheral] {
        state.withLock { $0.registry.living }
    }

    /// Returns the object for a peer, creating it if needed.
    func peripheral(_ id: PeerID, name: String?) -> CBPeripheral {
        state.withLock { $0.peripheral(id, name: name, of: self) }
    }

    /// Returns the object for a peer that the backend knows, creating it if needed.
    func peripheral(_ summary: PeerSummary) -> CBPeripheral {
        let peripheral = peripheral(summary.id, name: summary.name)
        peripheral.setAddress(summary.address)
        return peripheral
    }

    /// Records that the object for a peer was deallocated; takes no lock but the inbox's.
    func released(_ handle: PeerHandle) {
        inbox.append(.released(handle), for: self)?.start()
    }

    /// Returns the peers that the backend knows, and those that the app retains, in the requested order.
    func retrieve(_ ids: [PeerID]) -> [CBPeripheral] {
        retrieve { role in
            let known = Dictionary(role.knownPeers(ids).map { ($0.id, $0) }) { first, _ in first }
            return ids.compactMap { id in known[id] ?? peripheral(id).map { PeerSummary(id: id, name: $0.name) } }
        }
    }

    /// Returns the peers that a query of the backend returns; the query runs outside every lock.
    func retrieve(_ query: (any CentralBackend) -> [PeerSummary]) -> [CBPeripheral] {
        guard read({ $0.state }) == .poweredOn else {
            log(.notPoweredOn)
            return []
        }
        return query(role).map { peripheral($0) }
    }

    /// Returns the object for a peer that another program uses, created with the backend's data.
    func peripheralOfTheSystem(_ id: PeerID) -> CBPeripheral {
        if let known = peripheral(id) { return known }
        return peripheral(role.knownPeers([id]).first ?? PeerSummary(id: id))
    }

    // MARK: The queue

    func handle(_ delivery: Delivery) {
        switch delivery {
        case .event(.restored(let restored)): restore(restored)
        case .event(.stateChanged(let state)):
            let announcesSentBursts = backend.announcesSentBursts
            transition { machine in
                machine.announcesSentBursts = announcesSentBursts
                return machine.handle(.stateChanged(state))
            }
        case .event(.discovered(let discovery)): discovered(discovery)
        case .event(.valueNotified(let link, let attribute, let value)):
            // The most frequent event; it changes no state.
            if let peer = read({ $0.receiver(of: link) }) { call(.notified(peer, attribute, value)) }
        case .event(let event): transition { $0.handle(event) }
        case .completion(let completion): transition { $0.handle(completion) }
        case .released(let handle): forget(handle)
        case .overflow(let link): transition { $0.overflowed(link) }
        }
    }

    /// Handles a scan report; the transition also creates the object, which lives until the delegate has returned.
    private func discovered(_ discovery: Discovery) {
        var peripheral: CBPeripheral?
        transitionWithState { state in
            let effects = state.machine.handle(.discovered(discovery))
            if !effects.isEmpty { peripheral = state.peripheral(discovery.peer, name: discovery.name, of: self) }
            return effects
        }
        withExtendedLifetime(peripheral) {}
    }

    /// Forgets a peer whose object is gone, with all requests to it.
    private func forget(_ handle: PeerHandle) {
        var unanswered: [String] = []
        var isInUse = false
        transitionWithState { state in
            if observer != nil && !state.isInvalidated {
                unanswered = state.machine.unansweredCommands(of: handle)
                isInUse = state.machine.isInUse(handle)
            }
            return state.machine.released(handle)
        }
        observer?.commandsAbandoned(unanswered)
        if isInUse { observer?.peripheralReleased(handle.id.uuid) }
        state.withLock { $0.registry.remove(handle) }
    }
}

/// Delivery entry point: channel events bypass the inbox, all other events wait for the manager's queue.
extension CentralCore {
    func deliver(_ event: CentralEvent) { append(event)?.start() }

    func append(_ event: CentralEvent) -> (any PendingDelivery)? {
        switch event {
        case .channel(let channel, let event):
            channels[channel]?.handle(event)
            return nil
        case .response(let link, _, .channel(let channel, let credits)):
            channels.open(channel, from: .link(link), credits: credits) { [weak self] command in
                self?.transition { _ in [.submit(.channel(channel, command))] }
            }
        case .disconnected(let link, _, _, _, _): channels.end(on: link)
        case .stateChanged(let state) where state != .poweredOn: channels.endAll()
        default: break
        }
        return inbox.append(.event(event), for: self)
    }
}
