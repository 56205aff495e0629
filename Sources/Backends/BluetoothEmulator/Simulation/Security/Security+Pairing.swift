import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The course of a pairing: features, questions, keys.
extension Security {
    /// The consequence of a step of a pairing outside of this layer.
    enum Outcome: Sendable {
        /// The link is encrypted, and the operation that needed it is retried.
        case succeeded(LinkOperation?)
        /// The pairing failed, and so does the operation that needed it.
        case failed((LinkOperation, ATTCode)?)
        /// A fault ends the link.
        case disconnected
    }

    /// Starts a pairing on a link: for a refused operation, for an app, or at the device's request.
    mutating func startPairing(
        _ ref: Ref<Link>, _ link: Link, _ device: Device?, for operation: (LinkOperation, ATTCode)?,
        asker: HostPairing.Asker?, _ lower: inout LowerLayers
    ) -> Outcome? {
        let askers = asker.map { [$0] } ?? []
        if pairings[ref] != nil, !barred.contains(ref) {
            if let operation { pairings[ref]?.operation = operation }
            pairings[ref]?.askers += askers
            return nil
        }
        let sides = sides(of: link, device, lower)
        guard !barred.contains(ref) else {
            let pairing = Pairing(number: 0, sides: sides, operation: operation, askers: askers)
            return end(pairing, BackendError(.encryptionTimedOut, operation: "pair"), &lower)
        }
        // The device of a link to a host outside of the emulator requests security by itself.
        let externalSide = lower.externalSide(of: link)
        guard externalSide == nil || asker != nil || operation != nil else { return nil }
        let pairing = begin(
            Pairing(
                number: lower.context.identifiers.nextPairing(), sides: sides, operation: operation, askers: askers),
            ref, &lower.context)
        guard externalSide == nil else {
            lower.context.report(.externalPairingRequested(link: ref.serial))
            return nil
        }
        // The exchange of features takes a round trip.
        let event = link.timing.connectionEvent(from: lower.context.now) + link.timing.interval
        lower.context.queue.schedule(
            .pairingFeatures(ref, pairing.number), at: event + lower.context.configuration.pairingDelay.nanoseconds)
        return nil
    }

    private func sides(of link: Link, _ device: Device?, _ lower: LowerLayers) -> [LinkSide: Pairing.Side] {
        var sides: [LinkSide: Pairing.Side] = [:]
        if lower.externalSide(of: link) != .central { sides[.central] = Pairing.Side(host: link.host, peer: link.peer) }
        if let server = device?.host, let central = link.central {
            sides[.peripheral] = Pairing.Side(host: server, peer: central)
        }
        return sides
    }

    private mutating func begin(_ new: Pairing, _ ref: Ref<Link>, _ context: inout WorldContext) -> Pairing {
        var pairing = new
        context.report(.pairingStarted(link: ref.serial))
        pairing.messageSent(on: ref, &context)
        pairings[ref] = pairing
        return pairing
    }

    /// Chooses the method and asks the users, when both sides know each other's capabilities.
    mutating func exchangeFeatures(_ ref: Ref<Link>, _ number: UInt64, _ lower: inout LowerLayers) -> Outcome? {
        guard !lower.links.isMissed(.pairingFeatures(ref, number), on: ref), let link = lower.links[ref],
            pairings[ref]?.number == number, pairings[ref]?.isPaused == false, lower.air.devices[link.device] != nil
        else { return nil }
        switch takeFault(ref, link.device, &lower) {
        case nil: break
        case .loseAnswer?: pairings[ref]?.losesAnswer = true
        case let fault?: return meet(fault, number, on: ref, &lower)
        }
        guard let device = lower.air.devices[link.device] else { return nil }
        let described = device.host == nil ? device.description.pairing : nil
        switch described?.answer {
        case .ignore?: return nil
        case .reject?: return fail(ref, .operationNotSupported, "the peer refuses to pair", &lower)
        case .accept?, nil: pairings[ref]?.messageSent(on: ref, &lower.context)
        }
        let agents: [LinkSide: SlotTable<Manager>.Entry] = [
            .central: lower.hosts.agents(of: link.host).last,
            .peripheral: device.host.flatMap { lower.hosts.agents(of: $0).last },
        ].compactMapValues { $0 }
        let sides: [LinkSide] = device.host == nil ? [.central] : [.central, .peripheral]
        guard lower.context.configuration.agreesToPairing || sides.allSatisfy({ agents[$0] != nil }) else {
            return fail(ref, .operationCancelled, "no one is there to agree", &lower)
        }
        func capability(_ side: LinkSide) -> PairingCapability {
            agents[side]?.element.capability ?? .noInputNoOutput
        }
        let (central, peripheral) = (capability(.central), described?.capability ?? capability(.peripheral))
        let method = PairingMethod(
            central: central, peripheral: peripheral,
            hasOutOfBandData: described?.hasOutOfBandData == true && agents[.central] != nil)
        guard method.isAuthenticated || described?.requiresAuthentication != true else {
            return fail(ref, .operationNotSupported, "authentication is required", &lower)
        }
        guard hasRoomForBond(link, device, lower.hosts, lower.context.configuration.maximumBonds) else {
            return fail(ref, .tooManyPairedDevices, nil, &lower)
        }
        pairings[ref]?.method = method
        let features = TappedPairingFeatures(central: central, peripheral: peripheral, method: method)
        lower.context.report(.pairingMethodChosen(link: ref.serial, features))
        let number = shownNumber(method, described, &lower.context)
        pairings[ref]?.passkey = number
        for side in [LinkSide.central, .peripheral] {
            if let agent = agents[side]?.ref { pairings[ref]?.ask(agent, side, &lower.context) }
        }
        advance(ref, link, &lower.context)
        return nil
    }

    private func shownNumber(
        _ method: PairingMethod, _ described: PairingDescription?, _ context: inout WorldContext
    ) -> Int {
        if case .passkey(shownBy: .peripheral?) = method, let fixed = described?.passkey { return fixed }
        return Int(context.random.security.below(1_000_000))
    }

    /// Continues with the keys when no question is open.
    private func advance(_ ref: Ref<Link>, _ link: Link, _ context: inout WorldContext) {
        guard let pairing = pairings[ref], pairing.method != nil, !pairing.questions.contains(where: \.isBlocking)
        else { return }
        // Confirmation, random values, check values and the start of encryption: four round trips.
        let event = link.timing.connectionEvent(from: context.now)
        context.queue.schedule(.pairingKeys(ref, pairing.number), at: event + 4 * link.timing.interval)
    }

    /// Completes the pairing: both sides store the keys, and the operation that needed them is retried.
    ///
    /// If a fault loses the device's answer, only the device stores them.
    mutating func exchangeKeys(_ ref: Ref<Link>, _ number: UInt64, _ lower: inout LowerLayers) -> Outcome? {
        guard !lower.links.isMissed(.pairingKeys(ref, number), on: ref), let link = lower.links[ref],
            let pairing = pairings[ref], pairing.number == number, let method = pairing.method
        else { return nil }
        guard pairing.isPasskeyRight else { return fail(ref, .invalidParameters, "the passkeys differ", &lower) }
        let (key, isAuthenticated) = (lower.context.random.security.next(), method.isAuthenticated)
        var isBonded = false
        if let device = lower.air.devices[link.device], device.host != nil || device.description.pairing.isBondable {
            bond(
                link.host, with: link.device, device, as: link.peer, key, isAuthenticated: isAuthenticated,
                isStoredByHost: !pairing.losesAnswer, &lower)
            isBonded = true
        }
        guard !pairing.losesAnswer else {
            lower.links.fallSilent(ref, isLost: true, &lower.context)
            return nil
        }
        pairings[ref] = nil
        return succeed(
            pairing, isBonded: isBonded, securing: isAuthenticated ? .authenticated : .encrypted, on: ref, &lower)
    }

    /// - Parameter level: The security that the link gets with it; nil if it has that already.
    private func succeed(
        _ pairing: Pairing, isBonded: Bool, securing level: SecurityLevel? = nil, on ref: Ref<Link>,
        _ lower: inout LowerLayers
    ) -> Outcome {
        lower.context.report(.pairingSucceeded(link: ref.serial, isBonded: isBonded))
        if let level { secure(ref, level, &lower) }
        pairing.cancelTimeout(&lower.context)
        // The end of the pairing also removes a number that is still displayed.
        pairing.emit(lower.hosts, &lower.context) { .paired(peer: $0, operation: $1, isBonded: isBonded) }
        return .succeeded(pairing.operation?.0)
    }

    /// Sets the security of a physical link.
    func secure(_ ref: Ref<Link>, _ level: SecurityLevel, _ lower: inout LowerLayers) {
        lower.links[ref]?.security = level
        lower.links.share(ref)
        guard lower.context.tapped.contains(.security) else { return }
        for (ref, link) in lower.links.directions(of: ref) {
            lower.context.report(.securityChanged(link: ref.serial, link.security))
        }
    }

    /// Handles an agent's answer to a question.
    ///
    /// - Returns: The link of the pairing, and the outcome.
    mutating func answer(
        _ id: PairingRequestID, _ answer: PairingAnswer, of agent: Ref<Manager>, _ lower: inout LowerLayers
    ) -> (Ref<Link>, Outcome?)? {
        let found = pairings.first { $0.value.questions.contains { $0.id == id && $0.agent == agent } }
        guard let ref = found?.key, let link = lower.links[ref], let agrees = pairings[ref]?.answer(id, answer) else {
            return nil
        }
        guard lower.externalSide(of: link) == nil else {
            lower.context.report(.externalPairingAnswered(link: ref.serial, agrees ? answer : .reject))
            return (ref, nil)
        }
        guard agrees else { return (ref, fail(ref, .operationCancelled, "the user refuses", &lower)) }
        pairings[ref]?.messageSent(on: ref, &lower.context)
        advance(ref, link, &lower.context)
        return (ref, nil)
    }

    // MARK: Faults

    /// Takes the fault of a pairing, once.
    private mutating func takeFault(
        _ ref: Ref<Link>, _ device: Ref<Device>, _ lower: inout LowerLayers
    ) -> DeviceFault.Effect? {
        guard pairings[ref]?.isAdmitted == false else { return nil }
        pairings[ref]?.isAdmitted = true
        return lower.air.devices[device]?.takeFault(.pair, at: device, &lower.context)
    }

    private mutating func meet(
        _ fault: DeviceFault.Effect, _ number: UInt64, on ref: Ref<Link>, _ lower: inout LowerLayers
    ) -> Outcome? {
        switch fault {
        case .fail: return fail(ref, .operationNotSupported, "the peer refuses to pair", &lower)
        case .delay(let time):
            lower.context.queue.schedule(
                .pairingFeatures(ref, number), at: lower.context.now + max(0, time.nanoseconds))
        case .pause: pairings[ref]?.isPaused = true
        case .disconnect: return .disconnected
        case .loseAnswer, .delayAnswer, .corrupt: break  // the first is met with the keys; the others do not apply
        }
        return nil
    }

    /// Continues a paused pairing.
    mutating func resume(_ ref: Ref<Link>, _ context: inout WorldContext) {
        guard let pairing = pairings[ref], pairing.isPaused else { return }
        pairings[ref]?.isPaused = false
        context.queue.schedule(.pairingFeatures(ref, pairing.number), at: context.now)
    }

    // MARK: Hosts outside of the emulator

    /// Asks the user of the emulated end of a link whose ends pair by themselves.
    ///
    /// Without an agent, the settings decide.
    mutating func ask(
        _ question: PairingQuestion, _ side: LinkSide, on ref: Ref<Link>, _ lower: inout LowerLayers
    ) {
        guard let link = lower.links[ref], lower.externalSide(of: link) == side.other else { return }
        var pairing =
            pairings[ref]
            ?? begin(
                Pairing(
                    number: lower.context.identifiers.nextPairing(),
                    sides: sides(of: link, lower.air.devices[link.device], lower)
                ), ref, &lower.context)
        pairing.messageSent(on: ref, &lower.context)
        let agent = pairing.sides[side].flatMap { lower.hosts.agents(of: $0.host).last?.ref }
        if agent.map({ pairing.ask(question, $0, side, &lower.context) }) != true {
            let agrees = agent != nil || lower.context.configuration.agreesToPairing
            lower.context.report(.externalPairingAnswered(link: ref.serial, agrees ? .accept : .reject))
        }
        pairings[ref] = pairing
    }

    /// Passes the passkey that a device's user enters to the pairings with hosts outside of the emulator.
    func enter(passkey: Int, on links: [Ref<Link>], _ lower: inout LowerLayers) {
        for ref in links where lower.links[ref].flatMap({ lower.externalSide(of: $0) }) == .central {
            lower.context.report(.externalPairingAnswered(link: ref.serial, .passkey(passkey)))
        }
    }

    /// Handles the end of a pairing of two ends that pair by themselves; the emulated one stores the key.
    mutating func endExternal(
        _ result: ExternalPairingResult, on ref: Ref<Link>, _ lower: inout LowerLayers
    ) -> Outcome? {
        guard let link = lower.links[ref], let side = lower.externalSide(of: link) else { return nil }
        var isBonded = true
        switch result {
        case .failed(let code): return fail(ref, code, nil, &lower)
        case .paired(let bonds, let isAuthenticated):
            isBonded = bonds && store(isAuthenticated, link, side, &lower)
        case .resumed: break
        }
        guard let pairing = pairings.removeValue(forKey: ref) else { return nil }
        return succeed(pairing, isBonded: isBonded, on: ref, &lower)
    }

    /// Stores the key of the emulated end, if it has room.
    private mutating func store(
        _ isAuthenticated: Bool, _ link: Link, _ side: LinkSide, _ lower: inout LowerLayers
    ) -> Bool {
        guard let device = lower.air.devices[link.device],
            hasRoomForBond(link, device, lower.hosts, lower.context.configuration.maximumBonds)
        else { return false }
        bond(
            link.host, with: link.device, device, as: link.peer, lower.context.random.security.next(),
            isAuthenticated: isAuthenticated, isStoredByHost: side == .peripheral, isStoredByDevice: side == .central,
            &lower)
        return true
    }

    // MARK: Failing

    private mutating func fail(
        _ ref: Ref<Link>, _ code: BackendError.Code, _ message: String?, _ lower: inout LowerLayers
    ) -> Outcome? {
        guard let pairing = pairings.removeValue(forKey: ref) else { return nil }
        lower.context.report(.pairingFailed(link: ref.serial, code))
        return end(pairing, BackendError(code, operation: "pair", message: message), &lower)
    }

    private func end(_ pairing: Pairing, _ error: BackendError, _ lower: inout LowerLayers) -> Outcome {
        pairing.cancelTimeout(&lower.context)
        pairing.cancelQuestions(&lower.context)
        pairing.emit(lower.hosts, &lower.context) { .pairingFailed(peer: $0, operation: $1, error: error) }
        return .failed(pairing.operation)
    }

    /// Fails a pairing whose other side is silent, and bars further pairings on this link.
    mutating func timeOut(_ ref: Ref<Link>, _ number: UInt64, _ lower: inout LowerLayers) -> Outcome? {
        guard pairings[ref]?.number == number else { return nil }
        pairings[ref]?.timeout = nil
        barred.insert(ref)
        return fail(ref, .encryptionTimedOut, nil, &lower)
    }

    /// Handles the removal of an agent: its questions are answered with a rejection, and a pairing that this agent alone
    /// requested ends.
    mutating func remove(_ agent: Ref<Manager>, from ref: Ref<Link>, _ lower: inout LowerLayers) -> Outcome? {
        guard let pairing = pairings[ref] else { return nil }
        let others = pairing.askers.filter { $0.manager != agent }
        pairings[ref]?.askers = others
        let isUnwanted = others.isEmpty && !pairing.askers.isEmpty && pairing.operation == nil
        guard isUnwanted || pairing.questions.contains(where: { $0.agent == agent }) else { return nil }
        if let link = lower.links[ref], lower.externalSide(of: link) != nil {
            lower.context.report(.externalPairingAnswered(link: ref.serial, nil))
        }
        return fail(ref, .operationCancelled, "the agent is gone", &lower)
    }

    /// Ends a pairing whose link ended; the operation that needed it ends with the link.
    mutating func abandon(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        _ = fail(ref, .peerDisconnected, nil, &lower)
        barred.remove(ref)
    }
}
