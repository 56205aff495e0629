import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// A pairing under way on a link.
struct Pairing: Sendable {
    struct Question: Sendable {
        let id: PairingRequestID
        let agent: Ref<Manager>
        let side: LinkSide
        let kind: PairingQuestion

        /// Whether the pairing waits for the answer to the question.
        var isBlocking: Bool { if case .display = kind { false } else { true } }
    }

    /// A host that takes part, and its identifier of the other side.
    struct Side: Sendable {
        let host: Int
        let peer: PeerID
    }

    /// Distinguishes the pairing from earlier ones on the same link.
    let number: UInt64
    /// The hosts that take part; a described device has none.
    let sides: [LinkSide: Side]
    /// The refused operation that needs the pairing and is then retried, with the error of its refusal.
    var operation: (LinkOperation, ATTCode)?
    var askers: [HostPairing.Asker] = []
    var method: PairingMethod?
    /// The number that one side shows.
    var passkey = 0
    /// The questions that are shown, answered or not.
    var questions: [Question] = []
    /// The numbers that users entered, by side.
    var typed: [LinkSide: Int] = [:]
    var timeout: WorldQueue.Token?
    /// Whether the pairing's fault has been applied.
    var isAdmitted = false
    /// Whether a fault loses the link before the host has the device's keys.
    var losesAnswer = false
    /// Whether a fault holds up the pairing until the device resumes.
    var isPaused = false

    /// Whether the entered number is right; a described device always enters the right one.
    var isPasskeyRight: Bool {
        switch method {
        case .passkey(shownBy: .central?): typed[.peripheral] ?? passkey == passkey
        case .passkey(shownBy: .peripheral?): typed[.central] ?? passkey == passkey
        case .passkey(shownBy: nil): Set([typed[.central], typed[.peripheral]].compactMap { $0 }).count <= 1
        default: true
        }
    }

    /// Restarts the timeout when a message of the pairing is sent; the pairing fails 30 s after the last message (Core
    /// Specification, Vol 3, Part H, 3.4).
    mutating func messageSent(on ref: Ref<Link>, _ context: inout WorldContext) {
        cancelTimeout(&context)
        timeout = context.queue.scheduleCancellable(
            .pairingTimeout(ref, number), at: context.now + Duration.seconds(30).nanoseconds)
    }

    func cancelTimeout(_ context: inout WorldContext) { if let timeout { context.queue.cancel(timeout) } }

    /// Asks an agent the question that the method requires of its side.
    mutating func ask(_ agent: Ref<Manager>, _ side: LinkSide, _ context: inout WorldContext) {
        guard let method else { return }
        let question: PairingQuestion =
            switch method {
            case .justWorks: .consent
            case .numericComparison: .confirm(passkey: passkey)
            case .passkey(let shownBy): shownBy == side ? .display(passkey: passkey) : .enterPasskey
            case .outOfBand: .outOfBand
            }
        _ = ask(question, agent, side, &context)
    }

    /// Asks an agent a question of its side.
    ///
    /// - Returns: Whether it is asked: the app that requested the pairing need not agree to it.
    mutating func ask(
        _ question: PairingQuestion, _ agent: Ref<Manager>, _ side: LinkSide, _ context: inout WorldContext
    ) -> Bool {
        guard let peer = sides[side]?.peer, question != .consent || !askers.contains(where: { $0.manager == agent })
        else { return false }
        let id = context.identifiers.nextQuestion()
        questions.append(Question(id: id, agent: agent, side: side, kind: question))
        context.emit(PairingEvent.requested(request: id, peer: peer, question: question), to: agent)
        return true
    }

    func cancelQuestions(_ context: inout WorldContext) {
        for question in questions { context.emit(PairingEvent.cancelled(request: question.id), to: question.agent) }
    }

    /// Handles an answer to a question.
    ///
    /// - Returns: Whether the user agrees; nil if the question stays.
    mutating func answer(_ id: PairingRequestID, _ answer: PairingAnswer) -> Bool? {
        guard let index = questions.firstIndex(where: { $0.id == id }) else { return nil }
        let question = questions[index]
        // The number stays until the other side has entered it.
        if case .display = question.kind, answer != .reject { return nil }
        questions.remove(at: index)
        switch (question.kind, answer) {
        case (.enterPasskey, .passkey(let number)): typed[question.side] = number
        case (.enterPasskey, .accept), (_, .reject): return false
        case (_, .accept), (_, .passkey): break
        }
        return true
    }

    /// Sends an event to all agents of both hosts, with the operation of those that requested the pairing.
    func emit(_ hosts: Hosts, _ context: inout WorldContext, _ event: (PeerID, OperationID?) -> PairingEvent) {
        for side in [LinkSide.central, .peripheral].compactMap({ sides[$0] }) {
            for (agent, _) in hosts.agents(of: side.host) {
                let operation = askers.first { $0.manager == agent }?.operation
                context.emit(event(side.peer, operation), to: agent)
            }
        }
    }
}
