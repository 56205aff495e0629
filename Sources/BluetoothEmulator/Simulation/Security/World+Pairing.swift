import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import DequeModule

// The course of a pairing: features, questions, keys.
extension World {
    /// So long after the last message a pairing is over (Core Specification, Vol 3, Part H, 3.4).
    private var pairingPatience: Nanoseconds { Duration.seconds(30).nanoseconds }

    /// Pairs on a link, for an operation that was refused, for an app, or as the device wishes.
    mutating func startPairing(
        _ ref: Ref<Link>, for operation: (LinkOperation, ATTCode)? = nil,
        asker: (manager: Ref<Manager>, operation: OperationID)? = nil
    ) {
        guard let link = links[ref] else { return }
        guard !link.isPairingBarred else {
            return pairingOver(ref, Pairing(operation, asker), BackendError(.encryptionTimedOut, operation: "pair"))
        }
        if link.pairing != nil {
            if let operation { links[ref]?.pairing?.operation = operation }
            if let asker { links[ref]?.pairing?.askers.append(asker) }
            return
        }
        lastPairing += 1
        links[ref]?.pairing = Pairing(operation, asker, number: lastPairing)
        pairingMessageSent(on: ref)
        // The exchange of features is a round trip.
        let due = link.connectionEvent(from: now) + link.interval + configuration.pairingDelay.nanoseconds
        queue.schedule(.pairingFeatures(ref, lastPairing), at: due)
    }

    /// A message of the pairing is sent: the other side has its time for the next one anew.
    mutating func pairingMessageSent(on ref: Ref<Link>) {
        guard let pairing = links[ref]?.pairing else { return }
        if let token = pairing.timeout { queue.cancel(token) }
        let token = queue.scheduleCancellable(.pairingTimeout(ref, pairing.number), at: now + pairingPatience)
        links[ref]?.pairing?.timeout = token
    }

    /// Both sides know what the other can: the method is chosen and the users are asked.
    mutating func pairingFeatures(_ ref: Ref<Link>, _ number: UInt64) {
        guard !isMissed(.pairingFeatures(ref, number), on: ref), let link = links[ref],
            link.pairing?.number == number, link.pairing?.isPaused == false, let device = devices[link.device],
            !meetsFault(pairing: number, on: ref)
        else { return }
        let described = device.host == nil ? device.pairing : nil
        switch described?.answer {
        case .ignore?: return
        case .reject?:
            return pairingFailed(
                ref, BackendError(.operationNotSupported, operation: "pair", message: "the peer refuses to pair"))
        case .accept?, nil: pairingMessageSent(on: ref)
        }
        let agents: [LinkSide: Ref<Manager>] = [
            .central: agent(of: link.host), .peripheral: device.host.flatMap { agent(of: $0) },
        ].compactMapValues { $0 }
        let hosts: [LinkSide] = device.host == nil ? [.central] : [.central, .peripheral]
        guard configuration.agreesToPairing || hosts.allSatisfy({ agents[$0] != nil }) else {
            return pairingFailed(
                ref, BackendError(.operationCancelled, operation: "pair", message: "no one is there to agree"))
        }
        func capability(_ side: LinkSide) -> PairingCapability {
            agents[side].flatMap { managers[$0]?.capability } ?? .noInputNoOutput
        }
        let method = PairingMethod(
            central: capability(.central), peripheral: described?.capability ?? capability(.peripheral),
            hasOutOfBandData: described?.hasOutOfBandData == true && agents[.central] != nil)
        guard method.isAuthenticated || described?.requiresAuthentication != true else {
            return pairingFailed(
                ref, BackendError(.operationNotSupported, operation: "pair", message: "authentication is required"))
        }
        guard hasRoomForBond(on: ref) else {
            return pairingFailed(ref, BackendError(.tooManyPairedDevices, operation: "pair"))
        }
        links[ref]?.pairing?.method = method
        let number = shownNumber(method, described)
        links[ref]?.pairing?.passkey = number
        for side in [LinkSide.central, .peripheral] {
            if let agent = agents[side] { ask(agent, side, on: ref) }
        }
        advancePairing(ref)
    }

    private mutating func shownNumber(_ method: PairingMethod, _ described: PairingDescription?) -> Int {
        if case .passkey(shownBy: .peripheral?) = method, let fixed = described?.passkey { return fixed }
        return Int(securityRandom.below(1_000_000))
    }

    /// Goes on to the keys, when no question is open.
    mutating func advancePairing(_ ref: Ref<Link>) {
        guard let link = links[ref], let pairing = link.pairing, pairing.method != nil,
            !pairing.questions.contains(where: \.isBlocking)
        else { return }
        // Confirmation, random values, check values and the start of encryption: four round trips.
        queue.schedule(
            .pairingKeys(ref, pairing.number), at: link.connectionEvent(from: now) + 4 * link.interval)
    }

    /// The keys are made: both sides keep them, and what needed them goes on.
    mutating func pairingKeys(_ ref: Ref<Link>, _ number: UInt64) {
        guard !isMissed(.pairingKeys(ref, number), on: ref), let link = links[ref],
            let pairing = link.pairing, pairing.number == number, let method = pairing.method
        else { return }
        guard pairing.isPasskeyRight else {
            return pairingFailed(
                ref, BackendError(.invalidParameters, operation: "pair", message: "the passkeys differ"))
        }
        let isBonded = keep(securityRandom.next(), isAuthenticated: method.isAuthenticated, on: ref)
        links[ref]?.pairing = nil
        links[ref]?.security = method.isAuthenticated ? .authenticated : .encrypted
        shareSecurity(of: ref)
        if let token = pairing.timeout { queue.cancel(token) }
        // A number that is still shown goes with the pairing.
        tellPairingAgents(on: ref, pairing.askers) { .paired(peer: $0, operation: $1, isBonded: isBonded) }
        endPairingLink(link)
        if let (operation, _) = pairing.operation { retry(operation, on: ref) }
    }

    // MARK: Failing

    mutating func pairingFailed(_ ref: Ref<Link>, _ error: BackendError) {
        guard let pairing = links[ref]?.pairing else { return }
        links[ref]?.pairing = nil
        pairingOver(ref, pairing, error)
    }

    private mutating func pairingOver(_ ref: Ref<Link>, _ pairing: Pairing, _ error: BackendError) {
        if let token = pairing.timeout { queue.cancel(token) }
        cancelQuestions(pairing.questions)
        tellPairingAgents(on: ref, pairing.askers) { .pairingFailed(peer: $0, operation: $1, error: error) }
        if let link = links[ref] { endPairingLink(link) }
        guard let (operation, code) = pairing.operation else { return }
        let error = BackendError.att(code.rawValue, operation: operation.kind.isRead ? "read" : "write")
        complete(operation, .failure(error), on: ref)
    }

    /// The other side is silent; nothing more can be paired on this link.
    mutating func pairingTimedOut(_ ref: Ref<Link>, _ number: UInt64) {
        guard links[ref]?.pairing?.number == number else { return }
        links[ref]?.pairing?.timeout = nil
        links[ref]?.isPairingBarred = true
        pairingFailed(ref, BackendError(.encryptionTimedOut, operation: "pair"))
    }

    /// A link ends in the middle of a pairing; what needed it ends with the link.
    mutating func abandonPairing(_ ref: Ref<Link>) {
        guard let pairing = links[ref]?.pairing else { return }
        links[ref]?.pairing = nil
        if let token = pairing.timeout { queue.cancel(token) }
        cancelQuestions(pairing.questions)
        let error = BackendError(.peerDisconnected, operation: "pair")
        tellPairingAgents(on: ref, pairing.askers) { .pairingFailed(peer: $0, operation: $1, error: error) }
    }

    /// Sends a refused operation again, before all others of its link.
    private mutating func retry(_ operation: LinkOperation, on ref: Ref<Link>) {
        var again = operation
        again.isRetried = true
        links[ref]?.operations.prepend(again)
        release(ref)
    }
}

extension Pairing {
    fileprivate init(
        _ operation: (LinkOperation, ATTCode)?, _ asker: (manager: Ref<Manager>, operation: OperationID)?,
        number: UInt64 = 0
    ) {
        self.init(number: number)
        self.operation = operation
        if let asker { askers = [asker] }
    }
}
