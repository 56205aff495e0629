import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import Dispatch
import Foundation

/// Joins a peripheral manager with its backend: contains the machine, the inbox, the outbox and the objects.
///
/// An API call runs its transition on the caller's thread; an event runs its transition on the manager's queue, just
/// before its callback. App code runs under no lock. Requests retain the core, not the manager.
final class PeripheralCore: InboxOwner, EventSink {
    /// An item that waits for the manager's queue; it contains identifiers, never objects.
    enum Delivery: Sendable {
        case event(PeripheralEvent)
        case completion(PeripheralCompletion)
    }

    struct State {
        var machine = PeripheralStateMachine()
        var objects = LocalObjects()
        var centrals = CentralRegistry()
        var outbox = Outbox<PeripheralCommand>()
        var isInvalidated = false
    }

    private struct Owner {
        weak var manager: CBPeripheralManager?
        weak var delegate: (any CBPeripheralManagerDelegate)?
    }

    let backend: any BluetoothBackend
    let observer = Observation.observer
    let clock: any BackendClock
    private let role: any PeripheralBackend
    /// Answers pairings if the environment requests it.
    private let environmentAgent: EnvironmentPairing.Agent?
    let inbox: Inbox<PeripheralCore>
    let channels: ChannelTable
    /// Whether the app gave an identifier for restoration.
    let canRestore: Bool
    // Invariant: accessed under this lock; objects that leave it are only used on the queue or given to the caller.
    private let state = LockedState(State())
    private let owner = LockedState(Owner())

    init(_ backend: any BluetoothBackend, _ options: [String: Any]?, queue: DispatchQueue?) {
        let roleOptions = RoleOptions(options, restoreKey: CBPeripheralManagerOptionRestoreIdentifierKey)
        self.backend = backend
        clock = backend.clock
        channels = ChannelTable(clock: clock)
        environmentAgent = EnvironmentPairing.process?.agent(on: backend)
        role = backend.wrappedAsAsked.makePeripheral(roleOptions)
        inbox = Inbox(queue: queue ?? .main, limits: CBManagerLimits(options))
        canRestore = roleOptions.restoreIdentifier != nil
    }

    /// Starts delivery for a manager that is complete.
    func activate(for manager: CBPeripheralManager, _ delegate: (any CBPeripheralManagerDelegate)?) {
        owner.withLock { $0 = Owner(manager: manager, delegate: delegate) }
        observer?.managerCreated(self)
        role.activate(self)
    }

    /// Ends services, advertisement and subscriptions without a callback, because the manager is gone.
    func invalidate() {
        let (objects, unanswered) = state.withLock { state in
            state.isInvalidated = true
            state.outbox.close()
            let unanswered = observer == nil ? [] : state.machine.unansweredCommands
            return (exchange(&state.objects, with: LocalObjects()), unanswered)
        }
        observer?.commandsAbandoned(unanswered)
        role.invalidate()
        channels.endAll()
        inbox.close()
        for published in objects.all {
            published.publications.forEach { $0.release(by: self) }
            published.characteristics.forEach { $0.object.removeSubscribers() }
        }
    }

    var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    // MARK: Owner

    var manager: CBPeripheralManager? {
        owner.withLock { $0.manager }
    }

    var delegate: (any CBPeripheralManagerDelegate)? {
        get { owner.withLock { $0.delegate } }
        set { owner.withLock { $0.delegate = newValue } }
    }

    // MARK: Transitions

    /// Runs a transition of the machine and performs its effects.
    func transition(_ body: (inout PeripheralStateMachine) -> [PeripheralEffect]) {
        transitionWithObjects { body(&$0.machine) }
    }

    /// Runs a transition that takes in objects too.
    func transitionWithObjects(_ body: (inout State) -> [PeripheralEffect]) {
        let (effects, first) = state.withLock { state -> ([PeripheralEffect], PeripheralCommand?) in
            let effects = body(&state)
            for effect in effects {
                switch effect {
                case .submit(let command): state.outbox.append(command)
                case .complete(let completion): inbox.append(.completion(completion), for: self)?.start()
                // Here, as the queue may forget the objects before the caller goes on; a mark has no lock.
                case .thaw(let id): state.objects.service(id)?.publications.forEach { $0.release(by: self) }
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

    /// Publishes a service; its objects are kept, and frozen, from the call on.
    func add(_ service: CBMutableService, _ local: LocalService) {
        let characteristics = (service.characteristics ?? []).compactMap { $0 as? CBMutableCharacteristic }
        transitionWithObjects { state in
            let addition = state.machine.add(local)
            if let operation = addition.operation { state.objects.additions[operation] = service }
            if let definition = addition.definition {
                state.objects.keep(service, characteristics, as: definition, by: self)
            }
            return addition.effects
        }
    }

    func read<Result: Sendable>(_ body: (PeripheralStateMachine) -> Result) -> Result {
        state.withLock { body($0.machine) }
    }

    private func perform(_ effect: PeripheralEffect) {
        switch effect {
        case .submit, .complete, .thaw: break
        case .misuse(let misuse): log(misuse)
        case .forget(let id):
            let gone = state.withLock { $0.objects.remove(id) }
            gone?.characteristics.forEach { $0.object.removeSubscribers() }
        case .clearSubscribers(let id): characteristic(id)?.removeSubscribers()
        case .dropAdditions(let operations): operations.forEach { _ = takeAddition($0) }
        case .changeMTU(let id, let mtu): state.withLock { $0.centrals[id] }?.updateMTU(mtu)
        case .closeChannel(let id): channels.release(id)
        case .closeChannels(let psm): channels.shutDown(psm: psm)
        case .callback(let callback):
            // Before the delivery, as that takes objects out.
            let observed = observer.map { _ in observation(of: callback) }
            deliver(callback)
            if let observed { observer?.delivered(observed) }
        }
    }

    // MARK: Objects

    func characteristic(_ id: AttributeID) -> CBMutableCharacteristic? {
        state.withLock { $0.objects.characteristic(id) }
    }

    func service(_ id: AttributeID) -> CBMutableService? {
        state.withLock { $0.objects.service(id)?.service }
    }

    func addition(_ operation: OperationID) -> CBMutableService? {
        state.withLock { $0.objects.additions[operation] }
    }

    func takeAddition(_ operation: OperationID) -> CBMutableService? {
        state.withLock { $0.objects.additions.removeValue(forKey: operation) }
    }

    /// Returns the object of a central, with its present ATT MTU.
    func central(_ id: PeerID, mtu: Int) -> CBCentral {
        let central = state.withLock { $0.centrals.central(id, mtu: mtu) }
        central.updateMTU(mtu)
        return central
    }

    /// Returns the object of a central of which only the identifier is known.
    func central(_ id: PeerID) -> CBCentral {
        state.withLock { $0.centrals.central(id, mtu: ATTLimits.minimumMTU) }
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
        case .event(let event): transition { $0.handle(event) }
        case .completion(let completion): transition { $0.handle(completion) }
        }
    }
}

/// Delivery entry point: channel events bypass the inbox, all other events wait for the manager's queue.
extension PeripheralCore {
    func deliver(_ event: PeripheralEvent) { append(event)?.start() }

    func append(_ event: PeripheralEvent) -> (any PendingDelivery)? {
        switch event {
        case .channel(let channel, let channelEvent):
            channels[channel]?.handle(channelEvent)
            // An app that has the channel learns of its end from the streams; for other channels, the event cancels the
            // delivery that waits for the queue.
            guard channelEvent == .closed, channels.retainsUnclaimed(channel) else { return nil }
        case .channelOpened(let channel, let psm, _, let credits):
            channels.open(channel, from: .psm(psm), credits: credits) { [weak self] command in
                self?.transition { _ in [.submit(.channel(channel, command))] }
            }
        case .stateChanged(let state) where state != .poweredOn: channels.endAll()
        default: break
        }
        return inbox.append(.event(event), for: self)
    }
}
