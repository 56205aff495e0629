import BluetoothBackend

// The apps' part in pairing: commands, questions, answers.
extension World {
    /// The number under which a ledger registers a link that exists for pairing only.
    private var pairingApp: Ref<Manager> { Ref(slot: .max, serial: 1) }

    // MARK: Agents

    /// Whether a pairing manager is an agent of a host: of the host that it named, else of the hosts of managers that
    /// named none.
    private func represents(_ manager: Manager, for host: Int) -> Bool {
        guard manager.role == .pairing, manager.isActive, hosts[host].adapter.features.contains(.pairing) else {
            return false
        }
        return manager.host.map { $0 == host } ?? hosts[host].isUnnamedChoice
    }

    private func agents(of host: Int) -> [Ref<Manager>] {
        managers.refs.filter { ref in managers[ref].map { represents($0, for: host) } ?? false }
    }

    /// The newest agent, which is the one asked.
    func agent(of host: Int) -> Ref<Manager>? { agents(of: host).last }

    /// Delivers an event to all agents of both hosts, with the operation of those that requested the pairing.
    mutating func reportPairingAgents(
        on ref: Ref<Link>, _ askers: [HostPairing.Asker],
        _ event: (PeerID, OperationID?) -> PairingEvent
    ) {
        guard let link = links[ref] else { return }
        var sides = [(host: link.host, peer: link.peer)]
        if let server = devices[link.device]?.host, let central = link.server.central {
            sides.append((server, central))
        }
        for (host, peer) in sides {
            for agent in agents(of: host) {
                let operation = askers.first { $0.manager == agent }?.operation
                context.emit(event(peer, operation), to: agent)
            }
        }
    }

    /// Delivers the removal of a bond to the agents of a host.
    mutating func reportUnpaired(
        _ peer: PeerID, on host: Int, _ asker: HostPairing.Asker?
    ) {
        for agent in agents(of: host) {
            let operation = asker?.manager == agent ? asker?.operation : nil
            context.emit(PairingEvent.unpaired(peer: peer, operation: operation), to: agent)
        }
    }

    // MARK: Questions

    /// Asks an agent the question that the pairing method requires of its side.
    mutating func ask(_ agent: Ref<Manager>, _ side: LinkSide, on ref: Ref<Link>) {
        guard let link = links[ref], let pairing = link.security.pairing, let method = pairing.method,
            let peer = side == .central ? link.peer : link.server.central
        else { return }
        let kind: PairingQuestion
        switch method {
        case .justWorks:
            // The app that requested the pairing need not agree to it.
            guard !pairing.askers.contains(where: { $0.manager == agent }) else { return }
            kind = .consent
        case .numericComparison: kind = .confirm(passkey: pairing.passkey)
        case .passkey(let shownBy): kind = shownBy == side ? .display(passkey: pairing.passkey) : .enterPasskey
        case .outOfBand: kind = .outOfBand
        }
        let id = context.identifiers.nextQuestion()
        links[ref]?.security.pairing?.questions.append(Pairing.Question(id: id, agent: agent, side: side, kind: kind))
        context.emit(PairingEvent.requested(request: id, peer: peer, question: kind), to: agent)
    }

    mutating func cancelQuestions(_ questions: [Pairing.Question]) {
        for question in questions { context.emit(PairingEvent.cancelled(request: question.id), to: question.agent) }
    }

    private mutating func answer(_ id: PairingRequestID, _ answer: PairingAnswer, of agent: Ref<Manager>) {
        let found = links.refs.first { ref in
            links[ref]?.security.pairing?.questions.contains { $0.id == id && $0.agent == agent } == true
        }
        guard let ref = found,
            let index = links[ref]?.security.pairing?.questions.firstIndex(where: { $0.id == id }),
            let question = links[ref]?.security.pairing?.questions[index]
        else { return }
        switch (question.kind, answer) {
        case (.enterPasskey, .passkey(let number)): links[ref]?.security.pairing?.typed[question.side] = number
        case (.enterPasskey, .accept), (_, .reject):
            links[ref]?.security.pairing?.questions.remove(at: index)
            return pairingFailed(ref, .operationCancelled, "the user refuses")
        case (.display, _): return  // stays until the other side has entered it
        case (_, .accept), (_, .passkey): break
        }
        links[ref]?.security.pairing?.questions.remove(at: index)
        pairingMessageSent(on: ref)
        advancePairing(ref)
    }

    // MARK: Commands

    mutating func handle(_ command: PairingCommand, of ref: Ref<Manager>) {
        guard managers.contains(ref) else { return }
        switch command {
        case .setCapability(let capability): managers[ref]?.capability = capability
        case .answer(let request, let answer): self.answer(request, answer, of: ref)
        case .pair(let peer, let operation): pair(peer, operation, ref)
        case .unpair(let peer, let operation): unpair(peer, operation, ref)
        }
    }

    /// Handles the removal of an agent: its questions are answered with a rejection, and requests of this agent alone
    /// end.
    mutating func removeAgent(_ ref: Ref<Manager>) {
        for host in hosts.indices {
            for peer in hosts[host].pairing.requestedPeers {
                if !takePairingRequests(for: peer, on: host, of: { $0.manager == ref }).isEmpty {
                    endPairingLinkIfUnused(peer, on: host)
                }
            }
        }
        for link in links.refs {
            guard let pairing = links[link]?.security.pairing else { continue }
            let others = pairing.askers.filter { $0.manager != ref }
            links[link]?.security.pairing?.askers = others
            let isUnwanted = others.isEmpty && !pairing.askers.isEmpty && pairing.operation == nil
            guard isUnwanted || pairing.questions.contains(where: { $0.agent == ref }) else { continue }
            pairingFailed(link, .operationCancelled, "the agent is gone")
        }
    }

    private mutating func pair(_ peer: PeerID, _ operation: OperationID, _ ref: Ref<Manager>) {
        let scope = hosts.indices.filter { host in managers[ref].map { represents($0, for: host) } ?? false }
        if let (link, security) = link(with: peer, in: scope) {
            guard security.refusal != nil else {
                let isBonded = scope.contains { hosts[$0].pairing.bondAddress(of: peer) != nil }
                return context.emit(PairingEvent.paired(peer: peer, operation: operation, isBonded: isBonded), to: ref)
            }
            return startPairing(link, asker: (ref, operation))
        }
        guard let host = scope.first(where: { hosts[$0].adapter.isOn && hosts[$0].peers[peer] != nil }) else {
            let error = BackendError(.unknownDevice, operation: "pair")
            return context.emit(PairingEvent.pairingFailed(peer: peer, operation: operation, error: error), to: ref)
        }
        let timeout = context.queue.scheduleCancellable(
            .pairingLinkTimeout(ref, operation, peer, host: host), at: context.now + pairingLinkTimeout)
        hosts[host].pairing.request(peer, HostPairing.Request(asker: (ref, operation), timeout: timeout))
        connect(host, pairingApp, peer, OperationID(rawValue: 0), ConnectOptions())
    }

    /// The time for which an app's pairing waits for a link, as in Linux (`HCI_LE_CONN_TIMEOUT`).
    private var pairingLinkTimeout: Nanoseconds { Duration.seconds(20).nanoseconds }

    /// Fails a requested pairing that found no link in time.
    mutating func pairingLinkTimedOut(_ asker: HostPairing.Asker, _ peer: PeerID, on host: Int) {
        // The timeout has fired and need not be cancelled.
        guard !hosts[host].pairing.takeRequests(for: peer, of: { $0 == asker }).isEmpty else { return }
        endPairingLinkIfUnused(peer, on: host)
        let error = BackendError(.connectionFailed, operation: "pair", message: "the peer does not answer")
        context.emit(
            PairingEvent.pairingFailed(peer: peer, operation: asker.operation, error: error), to: asker.manager)
    }

    /// Removes requests and their timeouts, and returns the askers.
    private mutating func takePairingRequests(
        for peer: PeerID, on host: Int, of isTaken: (HostPairing.Asker) -> Bool = { _ in true }
    ) -> [HostPairing.Asker] {
        let taken = hosts[host].pairing.takeRequests(for: peer, of: isTaken)
        for request in taken { context.queue.cancel(request.timeout) }
        return taken.map(\.asker)
    }

    /// Releases a link when no pairing waits for it.
    private mutating func endPairingLinkIfUnused(_ peer: PeerID, on host: Int) {
        if !hosts[host].pairing.requestedPeers.contains(peer) { disconnect(host, pairingApp, peer) }
    }

    /// Returns the first link of one of the hosts with a peer, in either role.
    func link(with peer: PeerID, in scope: [Int]) -> (Ref<Link>, SecurityLevel)? {
        for host in scope {
            if let ref = hosts[host].links[peer], let link = links[ref] { return (ref, link.security.level) }
            for ref in serverLinks(of: host) where links[ref]?.server.central == peer {
                if let link = links[ref] { return (ref, link.security.level) }
            }
        }
        return nil
    }

    /// Pairs on a new link, if an app waits for that or the device requests it.
    mutating func pairIfRequested(_ ref: Ref<Link>) {
        guard let link = links[ref], link.security.level.refusal != nil else { return completePairingRequests(ref) }
        for asker in takePairingRequests(for: link.peer, on: link.host) {
            startPairing(ref, asker: asker)
        }
        if devices[link.device]?.host == nil, devices[link.device]?.description.pairing.requestsSecurity == true {
            startPairing(ref)
        }
    }

    /// Completes the pairing requests for a link that is encrypted with the keys of a bond.
    private mutating func completePairingRequests(_ ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        for (manager, operation) in takePairingRequests(for: link.peer, on: link.host) {
            context.emit(PairingEvent.paired(peer: link.peer, operation: operation, isBonded: true), to: manager)
        }
        endPairingLink(link)
    }

    mutating func failPairingRequests(_ peer: PeerID, on host: Int, _ error: BackendError) {
        for (manager, operation) in takePairingRequests(for: peer, on: host) {
            context.emit(PairingEvent.pairingFailed(peer: peer, operation: operation, error: error), to: manager)
        }
    }

    /// Releases a link that exists for pairing only.
    mutating func endPairingLink(_ link: Link) {
        guard hosts[link.host].ledger.leases(of: link.peer).contains(where: { $0.manager == pairingApp.packed }) else {
            return
        }
        disconnect(link.host, pairingApp, link.peer)
    }

    private mutating func unpair(_ peer: PeerID, _ operation: OperationID, _ ref: Ref<Manager>) {
        let scope = hosts.indices.filter { host in managers[ref].map { represents($0, for: host) } ?? false }
        for host in scope {
            guard let address = hosts[host].pairing.bondAddress(of: peer) else { continue }
            return removeBond(address, on: host, asker: (ref, operation))
        }
        let error = BackendError(.unknownDevice, operation: "unpair")
        context.emit(PairingEvent.pairingFailed(peer: peer, operation: operation, error: error), to: ref)
    }
}
