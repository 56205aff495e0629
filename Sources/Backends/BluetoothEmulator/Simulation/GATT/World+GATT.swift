import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The wiring of the Attribute Protocol: operations that a handler answers, that need a pairing or a channel, or that a
// fault ends together with their link.
extension World {
    /// Does what an operation needs from other layers.
    private mutating func meet(_ demand: GATT.Demand?, on ref: Ref<Link>) {
        switch demand {
        case .pairing(let operation, let code)?: startPairing(ref, for: (operation, code))
        case .disconnection?: terminate(ref, reason: .remote)
        case nil: break
        }
    }

    mutating func enqueue(_ operation: LinkOperation, on ref: Ref<Link>) { gatt.enqueue(operation, on: ref, &lower) }

    /// Lets the host behind a link read the GAP Device Name by itself.
    mutating func readDeviceName(on ref: Ref<Link>) {
        enqueue(LinkOperation(manager: Hosts.otherApp, kind: .deviceName), on: ref)
    }

    mutating func complete(_ operation: LinkOperation, _ response: LinkResponse, on ref: Ref<Link>) {
        gatt.complete(operation, response, on: ref, &lower)
    }

    private mutating func fail(_ answered: ATTTransaction, _ code: ATTCode, _ name: String) {
        meet(gatt.fail(answered, code, name, &lower), on: answered.ref)
    }

    // MARK: Answers

    /// Handles the arrival of the answer to the head of the queue.
    mutating func answerArrived(_ ref: Ref<Link>) {
        guard var answered = gatt.takeAnswered(ref, &lower.links) else { return }
        switch gatt.admit(&answered, &lower) {
        case .admitted: perform(answered)
        case .held: break
        case .demanding(let demand): meet(demand, on: ref)
        }
    }

    /// Performs an operation at the device, and completes it unless the answer comes later.
    private mutating func perform(_ answered: ATTTransaction) {
        switch answered.operation.kind {
        case .request(.read): continueAnswer(gatt.answer(answered, "read", &lower), to: answered, "read")
        case .request(.write): continueAnswer(gatt.answer(answered, "write", &lower), to: answered, "write")
        case .writeCommand: break  // sent by transmit, without an answer
        case .deviceName: gatt.readDeviceName(answered, &lower)
        case .exchange: complete(answered.operation, .written, on: answered.ref)
        case .request(.readRSSI): gatt.readRSSI(answered, &lower)
        case .request(.openChannel(let psm)): openChannel(psm, answered)
        case .request: if isGranted(answered) { grant(answered) }
        }
    }

    /// Asks the handler for the answer to a read or a write, if it is not given.
    private mutating func continueAnswer(_ answer: GATT.Answer, to answered: ATTTransaction, _ name: String) {
        switch answer {
        case .given: break
        case .demanding(let demand): meet(demand, on: answered.ref)
        case .handler(let request):
            guard var response = ask(request, about: answered) else { return }
            if case .value = response, !answered.operation.kind.isRead { response = .stored }
            handlerAnswered(response, to: answered, name)
        }
    }

    mutating func handlerAnswered(_ response: PeripheralResponse, to answered: ATTTransaction, _ name: String) {
        let demand = gatt.handlerAnswered(response, to: answered, name, &lower)
        meet(demand, on: answered.ref)
    }

    /// Performs a discovery or a subscription that the device's handler granted.
    mutating func grant(_ answered: ATTTransaction) {
        let (operation, ref) = (answered.operation, answered.ref)
        guard case .request(.setNotifying(let attribute, let isOn)) = operation.kind else {
            return meet(gatt.discover(answered, &lower), on: ref)
        }
        guard let link = lower.links[ref] else { return }
        switch gatt.setNotifying(attribute, isOn, operation, on: link, &lower) {
        case .refused(let code): return fail(answered, code, "subscribe")
        case .subscribe(let uuid, let kind): subscribe(attribute, uuid, kind, on: ref)
        case .unsubscribe: unsubscribe(attribute, on: ref)
        case .none: break
        }
        complete(operation, .notifying(isOn), on: ref)
    }

    /// Fails an operation that a handler refuses.
    mutating func refuse(_ answered: ATTTransaction, _ response: ProcedureResponse) {
        switch response {
        case .granted, .unanswered: break
        case .error(let code): fail(answered, code, "procedure")
        case .failure(let error): gatt.fail(answered, carrying: error, "procedure", &lower)
        }
    }

    /// Answers a central's request for a channel.
    private mutating func openChannel(_ psm: UInt16, _ answered: ATTTransaction) {
        let (operation, ref) = (answered.operation, answered.ref)
        guard let link = lower.links[ref], let device = lower.air.devices[link.device],
            lower.hosts.holdsLink(of: operation)
        else { return gatt.release(ref, &lower) }
        let isSupported = lower.hosts[link.host].adapter.features.contains(.channels)
        guard !isSupported || !isAsked(device, for: psm, about: answered) else { return }
        let opening = channels.open(psm, by: operation.manager, on: ref, link, device, &lower)
        complete(opening, psm, answered)
        if case .opened(let id, _, isDescribed: true) = opening {
            handle(.channelOpened(link.centralIdentity(lower.hosts), id, psm: psm), at: link.device)
        }
    }

    /// Handles the answer of a host outside of the emulator to a central's request for a channel.
    mutating func channelAnswered(
        _ response: ChannelResponse, to request: ChannelRequest, _ answered: ATTTransaction
    ) {
        switch response {
        case .accepted(let server):
            guard let link = lower.links[answered.ref], lower.hosts.holdsLink(of: answered.operation) else {
                lower.context.emit(PeripheralEvent.channel(request.channel, .closed), to: server.manager)
                return gatt.release(answered.ref, &lower)
            }
            let opening = channels.accept(
                request, server, by: answered.operation.manager, on: answered.ref, link, &lower)
            complete(opening, request.psm, answered)
        case .refused(let refusal):
            complete(channels.refuse(request.psm, refusal, on: answered.ref, &lower.context), request.psm, answered)
        }
    }

    private mutating func complete(_ opening: Channels.Opening, _ psm: UInt16, _ answered: ATTTransaction) {
        let (operation, ref) = (answered.operation, answered.ref)
        switch opening {
        case .opened(let id, let credits, _): complete(operation, .channel(id, credits: credits), on: ref)
        case .refused(.noResources):
            let error = BackendError(
                .outOfSpace, operation: "open channel \(psm)", message: "the peer has no room")
            complete(operation, .failure(error), on: ref)
        case .refused(.insufficientEncryption): fail(answered, .insufficientEncryption, "open channel")
        case .refused(.insufficientAuthentication): fail(answered, .insufficientAuthentication, "open channel")
        case .refused(.noService):
            let error = BackendError(
                .operationNotSupported, operation: "open channel \(psm)", message: "no service listens there")
            complete(operation, .failure(error), on: ref)
        }
    }

    mutating func transactionExpired(_ ref: Ref<Link>) {
        gatt[ref]?.server.transactionTimeout = nil
        gatt.expireRequest(on: ref, &lower.context)
        terminate(ref, reason: .timeout)
    }

    // MARK: Write commands

    /// Sends the write commands at the head of the queue, as many as a connection event carries.
    mutating func transmit(_ ref: Ref<Link>) {
        guard var room = gatt.beginTransmission(.transmit(ref), by: .central, on: ref, &lower) else { return }
        while var command = gatt.sendWriteCommand(on: ref, &room, &lower) {
            switch gatt.admit(command: &command, &lower) {
            case .admitted: receive(command)
            case .held: break
            case .demanding(let demand): meet(demand, on: ref)
            }
            lower.hosts.grantCredits(1, to: command.operation.manager, on: command.operation.link, &lower.context)
        }
        gatt.continueTransmitting(ref, &lower)
    }

    private mutating func receive(_ command: ATTTransaction) {
        switch gatt.receive(command, &lower) {
        case .given: break
        case .demanding(let demand): meet(demand, on: command.ref)
        case .handler(let request):
            if case .writeCommand(let attribute, let value) = command.operation.kind,
                ask(request, about: command) == .stored
            {
                store(value, attribute, command)
            }
        }
        if case .loseAnswer? = command.operation.answerFault {
            lower.links.fallSilent(command.ref, isLost: true, &lower.context)
        }
    }

    /// Stores the value of a write command.
    mutating func store(_ value: Data, _ attribute: AttributeID, _ command: ATTTransaction) {
        meet(gatt.store(value, attribute, command, &lower), on: command.ref)
    }

    // MARK: Faults

    /// Continues the steps of a device that faults hold up.
    mutating func resume(_ ref: Ref<Device>) {
        for connect in lower.air.devices[ref]?.faults.takePausedConnects() ?? [] {
            lower.context.queue.schedule(
                .established(connect.host, ref, epoch: connect.epoch, .pastFault), at: lower.context.now)
        }
        for link in lower.air.links(of: ref) {
            security.resume(link, &lower.context)
            gatt.resume(link, at: lower.context.now)
            performPostponed(link)
            gatt.unstall(link, &lower)
        }
    }

    /// Performs the due operations of a link that a fault held up.
    mutating func performPostponed(_ ref: Ref<Link>) {
        guard !lower.links.isMissed(.performPostponed(ref), on: ref) else { return }
        while let command = gatt.takePostponedCommand(ref, lower.links, at: lower.context.now) { receive(command) }
        guard let answered = gatt.takePostponedRequest(ref, &lower) else { return }
        perform(answered)
    }

    // MARK: Subscriptions and values

    mutating func subscribe(
        _ attribute: AttributeID, _ uuid: BluetoothUUID, _ kind: LinkServer.Subscription?, on ref: Ref<Link>
    ) {
        guard let link = lower.links[ref] else { return }
        gatt.subscribe(attribute, kind, on: ref, at: link.device, &lower)
        handle(.subscribed(link.centralIdentity(lower.hosts), attribute, characteristic: uuid), at: link.device)
        gatt.reportSubscribed(attribute, on: ref, &lower)
    }

    private mutating func unsubscribe(_ attribute: AttributeID, on ref: Ref<Link>) {
        guard let link = lower.links[ref], gatt[ref]?.server.subscriptions.removeValue(forKey: attribute) != nil,
            let uuid = lower.database(of: link)?[attribute]?.uuid
        else { return }
        handle(.unsubscribed(link.centralIdentity(lower.hosts), attribute, characteristic: uuid), at: link.device)
        gatt.reportUnsubscribed(attribute, on: ref, &lower)
    }

    /// Ends the subscriptions on a link that no manager needs.
    mutating func pruneSubscriptions(_ ref: Ref<Link>) {
        guard let link = lower.links[ref] else { return }
        for attribute in gatt[ref]?.server.subscriptions.keys.sorted() ?? []
        where lower.hosts[link.host].ledger.subscribers(of: attribute, at: link.peer).isEmpty {
            unsubscribe(attribute, on: ref)
        }
    }

    /// Notifies a new value of a device to its subscribers.
    mutating func notify(_ value: Data, _ attribute: AttributeID, of ref: Ref<Device>) {
        for link in lower.air.links(of: ref) { notify(value, attribute, on: link) }
    }

    mutating func notify(_ value: Data, _ attribute: AttributeID, on ref: Ref<Link>) {
        meet(gatt.notify(value, attribute, on: ref, &lower), on: ref)
    }

    /// Fires the timer of a characteristic, unless no central still subscribes to it.
    mutating func notifyTimerFired(_ ref: Ref<Device>, _ attribute: AttributeID) {
        let isWanted = gatt.subscriberCount(attribute, on: lower.air.links(of: ref)) > 0
        guard let (value, interval) = lower.air.devices[ref]?.server.timerFired(of: attribute, isWanted: isWanted)
        else { return }
        notify(value, attribute, of: ref)
        lower.context.queue.schedule(.notifyTimer(ref, attribute), at: lower.context.now + interval, isPeriodic: true)
    }

    /// Sends a manager's value to subscribers, for one credit each.
    mutating func update(
        _ ref: Ref<Manager>, _ local: AttributeID, _ value: Data, _ centrals: [PeerID]?, _ server: Ref<Device>
    ) {
        guard let attribute = lower.hosts.managers[ref]?.publication.attributes[local] else { return }
        for link in lower.air.links(of: server) {
            meet(gatt.update(attribute, value, of: ref, to: centrals, on: link, &lower), on: link)
        }
    }

    /// Handles a manager's answer; answers to write commands and to requests that have ended are ignored.
    mutating func respond(
        _ ref: Ref<Manager>, _ request: RequestID, _ code: ATTCode, _ value: Data, _ server: Ref<Device>
    ) {
        for link in lower.air.links(of: server) {
            let asked = gatt[link]?.server.takePending { $0.number == request.rawValue && $0.manager == ref }
            guard let asked else { continue }
            return meet(gatt.respond(asked, code, value, on: link, &lower), on: link)
        }
    }

    // MARK: Channels

    /// Transmits on a channel; a described device receives the bytes before the next transmission is scheduled.
    mutating func transmit(_ id: ChannelID, _ side: LinkSide) {
        guard let data = channels.transmit(id, side, &lower) else { return }
        notify(channels.receive(data, on: id, from: side, &lower))
        notify(channels.continueTransmitting(id, side, &lower))
    }

    /// Ends the server's side of a link's channels when its end of the link ends.
    mutating func endServerChannels(of ref: Ref<Link>, _ link: Link) {
        let isOn = link.server.map { lower.hosts[$0.host].adapter.isOn } ?? true
        for id in channels.ids(on: ref) { notify(channels.endServerSide(of: id, isReported: isOn, &lower.context)) }
    }

    private mutating func notify(_ notice: Channel.DeviceNotice?) {
        if let notice { handle(notice.event, at: notice.device) }
    }
}
