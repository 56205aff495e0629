import BluetoothBackend
import BluetoothSupport
import Dispatch
import Logging

/// Joins a pairing agent with its backend: contains the machine, the inbox, the outbox and the open requests.
///
/// As in ``CentralCore``, calls run their transition on the caller's thread, events on the agent's queue; app code runs
/// under no lock.
final class PairingCore: InboxOwner, EventSink {
    typealias Completion = @Sendable ((any Error)?) -> Void

    private struct State {
        var machine = PairingMachine()
        var outbox = Outbox<PairingCommand>()
        var isInvalidated = false
        /// Whether the log says that requests are rejected because there is no delegate.
        var isDelegateMissed = false
        var requests: [PairingRequestID: CBPairingRequest] = [:]
        var completions: [OperationID: Completion] = [:]
    }

    private struct Owner {
        weak var agent: CBPairingAgent?
        weak var delegate: (any CBPairingAgentDelegate)?
    }

    let observer = Observation.observer
    let clock: any BackendClock
    private let backend: any PairingBackend
    let inbox: Inbox<PairingCore>
    private let state = Lock(State())
    // Invariant: accessed under this lock; the delegate is used on the agent's queue.
    private let owner = LockedState(Owner())

    init(backend: any BluetoothBackend, queue: DispatchQueue) {
        clock = backend.clock
        self.backend = backend.wrappedAsAsked.makePairing()
        inbox = Inbox(queue: queue)
    }

    /// Starts delivery for an agent that is complete.
    func activate(for agent: CBPairingAgent, _ delegate: (any CBPairingAgentDelegate)?) {
        owner.withLock { $0 = Owner(agent: agent, delegate: delegate) }
        observer?.managerCreated(self)
        backend.activate(self)
        transition { _ in [.submit(.setCapability(agent.capability.backendCapability))] }
    }

    /// Rejects open requests and ends calls with an error, because the agent is gone.
    func invalidate() {
        let (completions, unanswered) = state.withLock { state in
            state.isInvalidated = true
            state.outbox.close()
            defer { (state.completions, state.requests) = ([:], [:]) }
            return (state.completions.values.map { $0 }, observer == nil ? [] : state.machine.unansweredCommands)
        }
        observer?.commandsAbandoned(unanswered)
        backend.invalidate()
        inbox.close()
        let error = BackendError(.operationCancelled, operation: "pairing")
        for completion in completions { inbox.queue.async { completion(error.appError) } }
    }

    var agent: CBPairingAgent? { owner.withLock { $0.agent } }

    /// The commands and questions that wait for an answer of the peer or of the app.
    package var unansweredCommands: [String] {
        state.withLock { $0.isInvalidated ? [] : $0.machine.unansweredCommands }
    }

    var delegate: (any CBPairingAgentDelegate)? {
        get { owner.withLock { $0.delegate } }
        set { owner.withLock { $0.delegate = newValue } }
    }

    // MARK: Calls

    func call(
        _ completion: @escaping Completion,
        _ body: (inout PairingMachine) -> (OperationID, [PairingMachine.Effect])
    ) {
        transition { state in
            let (operation, effects) = body(&state.machine)
            state.completions[operation] = completion
            return effects
        }
    }

    func answer(_ request: PairingRequestID, _ answer: PairingAnswer) {
        transition { state in
            let effects = state.machine.answer(request, answer)
            if !state.machine.isOpen(request) { state.requests[request] = nil }
            return effects
        }
    }

    func isOpen(_ request: PairingRequestID) -> Bool {
        state.withLock { !$0.isInvalidated && $0.machine.isOpen(request) }
    }

    // MARK: Transitions

    private func transition(_ body: (inout State) -> [PairingMachine.Effect]) {
        let (effects, first) = state.withLock { state -> ([PairingMachine.Effect], PairingCommand?) in
            let effects = body(&state)
            for case .submit(let command) in effects { state.outbox.append(command) }
            return (effects, state.outbox.beginSubmitting())
        }
        var next = first
        while let command = next {
            backend.submit(command)
            next = state.withLock { $0.outbox.next() }
        }
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: PairingMachine.Effect) {
        switch effect {
        case .submit: break
        case .misuse(let misuse): log(misuse)
        case .callback(.forgotten(let requests)):
            state.withLock { state in
                for request in requests { state.requests[request] = nil }
            }
        case .callback(.finished(let operation, let error)):
            state.withLock { $0.completions.removeValue(forKey: operation) }?(error?.appError)
        case .callback(let callback):
            guard let agent else { return }
            deliver(callback, by: agent)
            if let observed = callback.observed { observer?.delivered(observed) }
        }
    }

    /// Calls the delegate, on the agent's queue.
    private func deliver(_ callback: PairingMachine.Callback, by agent: CBPairingAgent) {
        switch callback {
        case .requested(let id, let peer, let question):
            let request = CBPairingRequest(id, peer: peer, question: question, core: self)
            state.withLock { $0.requests[id] = request }
            guard let delegate else { return refuse(request) }
            delegate.pairingAgent(agent, didReceive: request)
        case .cancelled(let id):
            guard let request = state.withLock({ $0.requests.removeValue(forKey: id) }) else { return }
            delegate?.pairingAgent(agent, didCancel: request)
        case .paired(let peer, let isBonded):
            delegate?.pairingAgent(agent, didPairWith: peer.uuid, isBonded: isBonded)
        case .failed(let peer, let error):
            delegate?.pairingAgent(agent, didFailToPairWith: peer.uuid, error: error.appError)
        case .unpaired(let peer):
            delegate?.pairingAgent(agent, didUnpairFrom: peer.uuid)
        case .finished, .forgotten: break
        }
    }

    /// Rejects a request because there is no delegate to answer it; logged once.
    private func refuse(_ request: CBPairingRequest) {
        let isLogged = state.withLock { exchange(&$0.isDelegateMissed, with: true) }
        if !isLogged {
            Logger(label: "CoreBluetooth").line(
                .warning,
                "a pairing was refused: its CBPairingAgent has no delegate to ask; it holds the delegate weakly")
        }
        request.reject()
    }

    private func log(_ misuse: PairingMachine.Misuse) {
        let text =
            switch misuse {
            case .answerDoesNotFit(let question, let answer):
                "the answer \"\(answer.kindName)\" does not fit the pairing question \"\(question.kindName)\""
            case .requestIsOver(let request): "pairing request \(request) is answered or void already"
            }
        logMisuse("API MISUSE: \(text); ignored")
    }

    // MARK: The queue

    func handle(_ event: PairingEvent) {
        transition { $0.machine.handle(event) }
    }

    func deliver(_ event: PairingEvent) { append(event)?.start() }

    func append(_ event: PairingEvent) -> (any PendingDelivery)? { inbox.append(event, for: self) }
}
