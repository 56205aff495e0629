import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import DequeModule

// The client's side of ATT: each link has a queue of operations, one outstanding, on connection events.
extension World {
    /// Appends a manager's operation to the queue of its link.
    mutating func enqueue(
        _ kind: LinkOperation.Kind, as operation: OperationID, of ref: Ref<Manager>, on id: LinkID
    ) {
        guard let link = hosts.managers[ref]?.openLink(of: id)?.link else { return }
        enqueue(LinkOperation(manager: ref, link: id, operation: operation, kind: kind), on: link)
    }

    mutating func enqueue(_ operation: LinkOperation, on ref: Ref<Link>) {
        if let start = links[ref]?.enqueue(operation, at: context.now) { begin(start, on: ref) }
    }

    /// Spends a manager's credit for a write command.
    mutating func enqueueCommand(_ attribute: AttributeID, _ value: Data, of ref: Ref<Manager>, on id: LinkID) {
        switch hosts.managers[ref]?.spendCredit(on: id) {
        case true?: enqueue(.writeCommand(attribute, value), as: OperationID(rawValue: 0), of: ref, on: id)
        case false?: context.log("write command without credit dropped")
        case nil: break
        }
    }

    /// Schedules the effect of the head of the queue.
    private mutating func begin(_ start: LinkClient.Start, on ref: Ref<Link>) {
        if context.tapped.contains(.att) { reportRequest(start, on: ref) }
        switch start {
        case .transmit(let due):
            context.queue.schedule(.transmit(ref), at: due + links.retransmissionTime(on: ref, &air, &context))
        case .read(let due):
            context.queue.schedule(.answer(ref), at: due + links.retransmissionTime(on: ref, &air, &context))
        case .request(let event):
            guard let kind = links[ref]?.client.operations.first?.kind, let timing = links[ref]?.timing else { return }
            let (interval, delay) = (timing.interval, timing.delays.delay(of: kind))
            guard interval > 0 || delay > 0 else { return context.queue.schedule(.answer(ref), at: event) }
            let count = roundTrips(of: kind, on: ref)
            let lost = links.retransmissionTime(count, on: ref, &air, &context)
            let additional = count > 0 ? links.additionalTime(ofATT: longPDUs(of: kind, on: ref), on: ref) : 0
            // The host answers by itself what it knows, without time of the device.
            context.queue.schedule(
                .answer(ref), at: event + Nanoseconds(count) * interval + additional + lost + (count > 0 ? delay : 0))
        }
    }

    /// The number of round trips before the first answer that an app can see.
    func roundTrips(of kind: LinkOperation.Kind, on ref: Ref<Link>) -> Int {
        guard let link = links[ref], let database = air.devices[link.device]?.server.database else { return 1 }
        if link.client.cache != nil, kind.isDiscovery { return 0 }
        if let sizes = entrySizes(of: kind, in: database) {
            if case .request(.discoverDescriptors) = kind, sizes.isEmpty { return 0 }
            return RoundTrips.finding(sizes: sizes, mtu: link.mtu)
        }
        switch kind {
        case .request(.readRSSI): return 0
        case .request(.write(_, let value, let offset)):
            return RoundTrips.writing(count: value.count, offset: offset, mtu: link.mtu)
        case .request(.setNotifying(let attribute, let isOn)):
            let others = hosts[link.host].ledger.subscribers(of: attribute, at: link.peer).count
            return others > (isOn ? 0 : 1) ? 0 : 1
        default: return 1
        }
    }

    /// Returns the sizes of the entries that a discovery finds, in bytes; nil for another operation.
    private func entrySizes(of kind: LinkOperation.Kind, in database: AttributeDatabase) -> [Int]? {
        let (ids, headerSize): ([AttributeID]?, Int)
        switch kind {
        case .request(.discoverServices): (ids, headerSize) = (database.services, 4)
        case .request(.discoverIncludedServices(let service, _)): (ids, headerSize) = (database[service]?.included, 6)
        case .request(.discoverCharacteristics(let service, _)): (ids, headerSize) = (database[service]?.children, 5)
        case .request(.discoverDescriptors(let parent)): (ids, headerSize) = (database[parent]?.children, 2)
        default: return nil
        }
        return (ids ?? []).map { headerSize + (database[$0]?.uuid.bits16 == nil ? 16 : 2) }
    }

    /// Returns the lengths of an operation's ATT PDUs that may take more than one connection event each, in bytes.
    ///
    /// The lengths for a read are known when its value is.
    private func longPDUs(of kind: LinkOperation.Kind, on ref: Ref<Link>) -> [Int] {
        guard let link = links[ref], let database = air.devices[link.device]?.server.database else { return [] }
        if case .request(.write(_, let value, let offset)) = kind {
            return RoundTrips.longPDUs(writing: value.count, offset: offset, mtu: link.mtu)
        }
        return entrySizes(of: kind, in: database).map { RoundTrips.responses(sizes: $0, mtu: link.mtu) } ?? []
    }

    // MARK: Answers

    /// Handles the arrival of the answer to the head of the queue.
    mutating func answerArrived(_ ref: Ref<Link>) {
        guard let answered = links[ref]?.takeCompletedRequest(ref) else { return }
        guard air.devices[answered.device]?.faults.steps.isEmpty == true || !meetsFault(answered, on: ref) else {
            return
        }
        guard air.devices[answered.device]?.handler.hasResponseTimes != true || !mustWait(answered, on: ref) else {
            return
        }
        perform(answered, on: ref)
    }

    /// Delivers the response of an operation and begins the next one.
    mutating func complete(_ operation: LinkOperation, _ response: LinkResponse, on ref: Ref<Link>) {
        if context.tapped.contains(.att) { reportResponse(response, to: operation.kind, on: ref) }
        if hosts.managers[operation.manager]?.holds(operation.link) == true {
            context.emit(
                .response(link: operation.link, operation: operation.operation, response), to: operation.manager)
        }
        release(ref)
    }

    /// Fails a refused operation; if encryption was missing, the host pairs and retries once by itself.
    mutating func fail(_ operation: LinkOperation, _ code: ATTCode, on ref: Ref<Link>, _ name: String) {
        if code == .insufficientAuthentication || code == .insufficientEncryption, !operation.isRetried,
            links[ref]?.security.refusal != nil
        {
            if context.tapped.contains(.att) {
                let refusal = BackendError.att(code.rawValue, operation: name)
                reportResponse(.failure(refusal), to: operation.kind, on: ref)
            }
            return startPairing(ref, for: (operation, code))
        }
        let error = BackendError.att(code.rawValue, operation: name)
        complete(operation, .failure(error), on: ref)
    }

    /// Fails an operation that the device refused with its own error.
    mutating func fail(
        _ operation: LinkOperation, carrying original: OpaqueError, on ref: Ref<Link>, _ name: String
    ) {
        var error = BackendError.att(ATTCode.unlikelyError.rawValue, operation: name)
        error.original = original
        complete(operation, .failure(error), on: ref)
    }

    mutating func release(_ ref: Ref<Link>) {
        if let start = links[ref]?.release(at: context.now) { begin(start, on: ref) }
    }

    /// Completes an operation when the rest of a long value has arrived.
    mutating func finish(_ ref: Ref<Link>) {
        guard !links.isMissed(.finish(ref), on: ref), let finishing = links[ref]?.client.finishing else { return }
        links[ref]?.client.finishing = nil
        complete(finishing.operation, finishing.response, on: ref)
    }

    /// Sends the write commands at the head of the queue, as many as a connection event carries.
    mutating func transmit(_ ref: Ref<Link>) {
        guard !links.isMissed(.transmit(ref), on: ref) else { return }
        var room = links.packetsWithoutInterval(on: ref)
        guard room != nil || links.beginEvent(for: .attributes, by: .central, on: ref, at: context.now) else {
            return context.queue.schedule(.transmit(ref), at: context.now)
        }
        while let command = sendWriteCommand(on: ref, &room) {
            if context.tapped.contains(.att) { reportCommand(command, on: ref) }
            let isPlain =
                air.devices[command.device]?.faults.steps.isEmpty == true
                && links[ref]?.client.deferred.hasCommands == false
            if isPlain || !meetsFault(command: command, on: ref) { receiveCommand(command, on: ref) }
            let operation = command.operation
            guard hosts.managers[operation.manager]?.grantCredits(1, on: operation.link) == true else { continue }
            context.emit(.writeCredits(link: operation.link, count: 1), to: operation.manager)
        }
        if let start = links[ref]?.continueTransmitting(at: context.now) { begin(start, on: ref) }
    }

    /// Sends the write command at the head of the queue.
    ///
    /// - Parameter room: The number of packets left; nil if the connection event decides.
    /// - Returns: The command; nil if the head is no write command, or the connection event has no room for all of it.
    private mutating func sendWriteCommand(on ref: Ref<Link>, _ room: inout Int?) -> Link.CompletedRequest? {
        if let left = room {
            room = left - 1
            return left > 0 ? links[ref]?.takeWriteCommand() : nil
        }
        guard case .writeCommand(_, let value)? = links[ref]?.client.operations.first?.kind,
            let offset = links[ref]?.client.bytesSent
        else { return nil }
        if let sent = links.sendATT(ATTLimits.valueHeader + value.count, from: offset, by: .central, on: ref) {
            links[ref]?.client.bytesSent = sent
            return nil
        }
        return links[ref]?.takeWriteCommand()
    }

    mutating func transactionExpired(_ ref: Ref<Link>) {
        links[ref]?.server.transactionTimeout = nil
        expireRequest(on: ref)
        terminate(ref, reason: .timeout)
    }

    // MARK: Subscriptions

    /// Ends the subscriptions on a link that no manager needs.
    mutating func pruneSubscriptions(_ ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        for attribute in link.server.subscriptions.keys.sorted()
        where hosts[link.host].ledger.subscribers(of: attribute, at: link.peer).isEmpty {
            unsubscribe(attribute, on: ref)
        }
    }

    mutating func subscribe(
        _ attribute: AttributeID, _ uuid: BluetoothUUID, _ kind: LinkServer.Subscription?, on ref: Ref<Link>
    ) {
        guard let device = links[ref]?.device else { return }
        links[ref]?.server.subscriptions[attribute] = kind
        startNotifyTimers(attribute, of: device)
        handle(.subscribed(links.central(of: ref, hosts), attribute, characteristic: uuid), at: device)
        reportSubscribed(attribute, on: ref)
    }

    mutating func unsubscribe(_ attribute: AttributeID, on ref: Ref<Link>) {
        guard let device = links[ref]?.device, links[ref]?.server.subscriptions.removeValue(forKey: attribute) != nil,
            let uuid = air.devices[device]?.server.database[attribute]?.uuid
        else { return }
        handle(.unsubscribed(links.central(of: ref, hosts), attribute, characteristic: uuid), at: device)
        reportUnsubscribed(attribute, on: ref)
    }

    // MARK: From the device

    /// Sends the device's notifications, as many as a connection event carries; an indication waits for the
    /// confirmation of the previous one.
    mutating func sendOutgoing(_ ref: Ref<Link>) {
        guard !links.isMissed(.peerTransmit(ref), on: ref), links.contains(ref) else { return }
        var room = links.packetsWithoutInterval(on: ref)
        guard room != nil || links.beginEvent(for: .attributes, by: .peripheral, on: ref, at: context.now) else {
            return context.queue.schedule(.peerTransmit(ref), at: context.now)
        }
        links[ref]?.server.isSending = false
        var mustWait = false
        var senders: [Ref<Manager>] = []
        var readiness = LinkServer.Readiness.ready
        while !mustWait {
            readiness = links[ref]?.server.prepareOutgoing(at: context.now) ?? .ready
            guard case .ready = readiness, let next = sendFirstOutgoing(on: ref, &room) else { break }
            mustWait = deliver(next, on: ref)
            if case .value(_, _, _, let sender?) = next { senders.append(sender) }
        }
        if !senders.isEmpty { returnNotifyCredits(to: senders, on: ref) }
        guard let isIdle = links[ref]?.server.outgoing.isEmpty, !isIdle || mustWait, let link = links[ref] else {
            return
        }
        links[ref]?.server.isSending = true
        switch readiness {
        case .ready:
            context.queue.schedule(
                .peerTransmit(ref),
                at: context.now + link.timing.interval + links.retransmissionTime(on: ref, &air, &context))
        case .at(let due): context.queue.schedule(.peerTransmit(ref), at: link.timing.connectionEvent(from: due))
        case .stalled: break
        }
    }

    /// Sends the head of the device's queue.
    ///
    /// - Parameter room: The number of packets left; nil if the connection event decides.
    /// - Returns: The item; nil if the queue is empty, or the connection event has no room for all of it.
    private mutating func sendFirstOutgoing(on ref: Ref<Link>, _ room: inout Int?) -> LinkServer.Outgoing? {
        if let left = room {
            room = left - 1
            return left > 0 ? links[ref]?.server.outgoing.popFirst() : nil
        }
        guard let length = links[ref]?.server.outgoing.first?.length, let offset = links[ref]?.server.bytesSent else {
            return nil
        }
        let sent = links.sendATT(length, from: offset, by: .peripheral, on: ref)
        if offset != sent ?? 0 { links[ref]?.server.bytesSent = sent ?? 0 }
        return sent == nil ? links[ref]?.server.outgoing.popFirst() : nil
    }

    /// Delivers a value or a Service Changed of the device.
    ///
    /// - Returns: Whether the item waits for a confirmation.
    mutating func deliver(_ item: LinkServer.Outgoing, on ref: Ref<Link>) -> Bool {
        guard let host = links[ref]?.host, let peer = links[ref]?.peer else { return false }
        if context.tapped.contains(.att) { reportDelivery(of: item, on: ref) }
        switch item {
        case .value(let attribute, let value, let needsConfirmation, _):
            for (manager, id) in hosts[host].ledger.subscribers(of: attribute, at: peer) {
                context.emit(.valueNotified(link: id, attribute: attribute, value: value), to: Ref(packed: manager))
            }
            return needsConfirmation
        case .servicesChanged(let removed, let added):
            links[ref]?.client.cache = nil
            hosts.emit(toLeasesOf: peer, on: host, &context) {
                .servicesChanged(link: $0, removed: removed, added: added)
            }
            return true
        case .held(let content, _): return deliver(content, on: ref)
        }
    }

    /// Appends an item to the device's queue.
    mutating func send(_ item: LinkServer.Outgoing, on ref: Ref<Link>) {
        guard let item = meetFault(item, on: ref) else { return }
        links[ref]?.server.outgoing.append(item)
        guard links[ref]?.server.isSending == false, let timing = links[ref]?.timing else { return }
        let event = timing.connectionEvent(from: context.now + timing.delays.notification)
        links[ref]?.server.isSending = true
        context.queue.schedule(.peerTransmit(ref), at: event + links.retransmissionTime(on: ref, &air, &context))
    }
}
