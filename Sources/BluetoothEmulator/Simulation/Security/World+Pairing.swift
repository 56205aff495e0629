import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import DequeModule

// The course of a pairing: features, questions, keys.
extension World {
    /// The time after the last message at which a pairing fails (Core Specification, Vol 3, Part H, 3.4).
    private var pairingTimeout: Nanoseconds { Duration.seconds(30).nanoseconds }

    /// Starts a pairing on a link: for a refused operation, for an app, or at the device's request.
    mutating func startPairing(
        _ ref: Ref<Link>, for operation: (LinkOperation, ATTCode)? = nil,
        asker: HostPairing.Asker? = nil
    ) {
        guard let link = links[ref] else { return }
        let askers = asker.map { [$0] } ?? []
        guard !link.security.isPairingBarred else {
            let pairing = Pairing(number: 0, operation: operation, askers: askers)
            return pairingOver(ref, pairing, BackendError(.encryptionTimedOut, operation: "pair"))
        }
        if link.security.pairing != nil {
            if let operation { links[ref]?.security.pairing?.operation = operation }
            links[ref]?.security.pairing?.askers += askers
            return
        }
        let number = context.identifiers.nextPairing()
        links[ref]?.security.pairing = Pairing(number: number, operation: operation, askers: askers)
        if context.tapped.contains(.security) { context.report(.pairingStarted(link: ref.serial)) }
        pairingMessageSent(on: ref)
        // The exchange of features takes a round trip.
        let due =
            link.timing.connectionEvent(from: context.now) + link.timing.interval
            + context.configuration.pairingDelay.nanoseconds
        context.queue.schedule(.pairingFeatures(ref, number), at: due)
    }

    /// Restarts the timeout when a message of the pairing is sent.
    mutating func pairingMessageSent(on ref: Ref<Link>) {
        guard let pairing = links[ref]?.security.pairing else { return }
        if let token = pairing.timeout { context.queue.cancel(token) }
        let token = context.queue.scheduleCancellable(
            .pairingTimeout(ref, pairing.number), at: context.now + pairingTimeout)
        links[ref]?.security.pairing?.timeout = token
    }

    /// Chooses the method and asks the users, when both sides know each other's capabilities.
    mutating func pairingFeatures(_ ref: Ref<Link>, _ number: UInt64) {
        guard !isMissed(.pairingFeatures(ref, number), on: ref), let link = links[ref],
            link.security.pairing?.number == number, link.security.pairing?.isPaused == false,
            let device = devices[link.device],
            !meetsFault(pairing: number, on: ref)
        else { return }
        let described = device.host == nil ? device.description.pairing : nil
        switch described?.answer {
        case .ignore?: return
        case .reject?:
            return pairingFailed(ref, .operationNotSupported, "the peer refuses to pair")
        case .accept?, nil: pairingMessageSent(on: ref)
        }
        let agents: [LinkSide: Ref<Manager>] = [
            .central: agent(of: link.host), .peripheral: device.host.flatMap { agent(of: $0) },
        ].compactMapValues { $0 }
        let hosts: [LinkSide] = device.host == nil ? [.central] : [.central, .peripheral]
        guard context.configuration.agreesToPairing || hosts.allSatisfy({ agents[$0] != nil }) else {
            return pairingFailed(ref, .operationCancelled, "no one is there to agree")
        }
        func capability(_ side: LinkSide) -> PairingCapability {
            agents[side].flatMap { managers[$0]?.capability } ?? .noInputNoOutput
        }
        let (central, peripheral) = (capability(.central), described?.capability ?? capability(.peripheral))
        let method = PairingMethod(
            central: central, peripheral: peripheral,
            hasOutOfBandData: described?.hasOutOfBandData == true && agents[.central] != nil)
        guard method.isAuthenticated || described?.requiresAuthentication != true else {
            return pairingFailed(ref, .operationNotSupported, "authentication is required")
        }
        guard hasRoomForBond(on: ref) else {
            return pairingFailed(ref, .tooManyPairedDevices)
        }
        links[ref]?.security.pairing?.method = method
        if context.tapped.contains(.security) {
            let features = TappedPairingFeatures(central: central, peripheral: peripheral, method: method)
            context.report(.pairingMethodChosen(link: ref.serial, features))
        }
        let number = shownNumber(method, described)
        links[ref]?.security.pairing?.passkey = number
        for side in [LinkSide.central, .peripheral] {
            if let agent = agents[side] { ask(agent, side, on: ref) }
        }
        advancePairing(ref)
    }

    private mutating func shownNumber(_ method: PairingMethod, _ described: PairingDescription?) -> Int {
        if case .passkey(shownBy: .peripheral?) = method, let fixed = described?.passkey { return fixed }
        return Int(context.random.security.below(1_000_000))
    }

    /// Continues with the keys when no question is open.
    mutating func advancePairing(_ ref: Ref<Link>) {
        guard let link = links[ref], let pairing = link.security.pairing, pairing.method != nil,
            !pairing.questions.contains(where: \.isBlocking)
        else { return }
        // Confirmation, random values, check values and the start of encryption: four round trips.
        context.queue.schedule(
            .pairingKeys(ref, pairing.number),
            at: link.timing.connectionEvent(from: context.now) + 4 * link.timing.interval)
    }

    /// Completes the pairing: both sides store the keys, and the operation that needed them is retried.
    mutating func pairingKeys(_ ref: Ref<Link>, _ number: UInt64) {
        guard !isMissed(.pairingKeys(ref, number), on: ref), let link = links[ref],
            let pairing = link.security.pairing, pairing.number == number, let method = pairing.method
        else { return }
        guard pairing.isPasskeyRight else {
            return pairingFailed(ref, .invalidParameters, "the passkeys differ")
        }
        let isBonded = storeBond(context.random.security.next(), isAuthenticated: method.isAuthenticated, on: ref)
        links[ref]?.security.pairing = nil
        links[ref]?.security.level = method.isAuthenticated ? .authenticated : .encrypted
        share(ref)
        if context.tapped.contains(.security) {
            context.report(.pairingSucceeded(link: ref.serial, isBonded: isBonded))
        }
        reportSecurity(of: ref)
        if let token = pairing.timeout { context.queue.cancel(token) }
        // The end of the pairing also removes a number that is still displayed.
        reportPairingAgents(on: ref, pairing.askers) { .paired(peer: $0, operation: $1, isBonded: isBonded) }
        endPairingLink(link)
        if let (operation, _) = pairing.operation { retry(operation, on: ref) }
    }

    // MARK: Failing

    mutating func pairingFailed(_ ref: Ref<Link>, _ code: BackendError.Code, _ message: String? = nil) {
        guard let pairing = links[ref]?.security.pairing else { return }
        links[ref]?.security.pairing = nil
        if context.tapped.contains(.security) { context.report(.pairingFailed(link: ref.serial, code)) }
        pairingOver(ref, pairing, BackendError(code, operation: "pair", message: message))
    }

    private mutating func pairingOver(_ ref: Ref<Link>, _ pairing: Pairing, _ error: BackendError) {
        if let token = pairing.timeout { context.queue.cancel(token) }
        cancelQuestions(pairing.questions)
        reportPairingAgents(on: ref, pairing.askers) { .pairingFailed(peer: $0, operation: $1, error: error) }
        if let link = links[ref] { endPairingLink(link) }
        guard let (operation, code) = pairing.operation else { return }
        let error = BackendError.att(code.rawValue, operation: operation.kind.isRead ? "read" : "write")
        complete(operation, .failure(error), on: ref)
    }

    /// Fails a pairing whose other side is silent, and bars further pairings on this link.
    mutating func pairingTimedOut(_ ref: Ref<Link>, _ number: UInt64) {
        guard links[ref]?.security.pairing?.number == number else { return }
        links[ref]?.security.pairing?.timeout = nil
        links[ref]?.security.isPairingBarred = true
        pairingFailed(ref, .encryptionTimedOut)
    }

    /// Ends a pairing whose link ended; the operation that needed it ends with the link.
    mutating func abandonPairing(_ ref: Ref<Link>) {
        guard let pairing = links[ref]?.security.pairing else { return }
        links[ref]?.security.pairing = nil
        if context.tapped.contains(.security) { context.report(.pairingFailed(link: ref.serial, .peerDisconnected)) }
        if let token = pairing.timeout { context.queue.cancel(token) }
        cancelQuestions(pairing.questions)
        let error = BackendError(.peerDisconnected, operation: "pair")
        reportPairingAgents(on: ref, pairing.askers) { .pairingFailed(peer: $0, operation: $1, error: error) }
    }

    /// Retries a refused operation before all others of its link.
    private mutating func retry(_ operation: LinkOperation, on ref: Ref<Link>) {
        var again = operation
        again.isRetried = true
        links[ref]?.client.operations.prepend(again)
        release(ref)
    }
}
