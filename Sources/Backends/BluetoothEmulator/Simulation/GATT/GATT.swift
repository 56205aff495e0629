import BluetoothBackend
import BluetoothSupport
import BluetoothValues
import DequeModule

/// The Attribute Protocol on all links: the operations of clients, the answers of servers, and the values that servers
/// send.
///
/// The questions to a device's handler are asked outside of this layer.
struct GATT: Sendable {
    /// The bearers; each has the slot and the serial number of its link, because they are opened and closed together.
    private var bearers = SlotTable<ATTBearer>()

    /// A need of an operation that other layers meet.
    enum Demand: Sendable {
        /// The link must be encrypted; the operation is retried then.
        case pairing(LinkOperation, ATTCode)
        /// A fault ends the link.
        case disconnection
    }

    /// The bearer of a link; nil if the link ended.
    subscript(ref: Ref<Link>) -> ATTBearer? {
        _read { yield bearers[Ref(ref)] }
        _modify { yield &bearers[Ref(ref)] }
    }

    /// Opens the bearer of a new link.
    mutating func open(_ ref: Ref<Link>) {
        let bearer = bearers.insert(ATTBearer())
        precondition(bearer == Ref(ref), "a link has no bearer of its own")
    }

    /// Closes the bearer of a link that ended.
    mutating func close(_ ref: Ref<Link>, _ context: inout WorldContext) {
        guard let bearer = bearers.remove(Ref(ref)) else { return }
        if let token = bearer.server.transactionTimeout { context.queue.cancel(token) }
    }

    // MARK: The client's queue

    /// Appends a manager's operation to the queue of its link; a write command needs a credit.
    mutating func enqueue(
        _ kind: LinkOperation.Kind, as operation: OperationID, of manager: Ref<Manager>, on id: LinkID,
        _ lower: inout LowerLayers
    ) {
        guard let (ref, isAccepted) = lower.hosts.managers[manager]?.accept(kind, on: id) else { return }
        guard isAccepted else { return lower.context.log("write command without credit dropped") }
        enqueue(LinkOperation(manager: manager, link: id, operation: operation, kind: kind), on: ref, &lower)
    }

    mutating func enqueue(_ operation: LinkOperation, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        self[ref]?.client.operations.append(operation)
        start(ref, &lower)
    }

    /// Marks the link idle, and starts the head of the queue.
    mutating func release(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        self[ref]?.client.isBusy = false
        start(ref, &lower)
    }

    /// Retries a refused operation before all others of its link.
    mutating func retry(_ operation: LinkOperation, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        var again = operation
        again.isRetried = true
        self[ref]?.client.operations.prepend(again)
        release(ref, &lower)
    }

    /// Starts the head of the queue, if the link is idle, and schedules its effect.
    private mutating func start(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard let link = lower.links[ref], let start = self[ref]?.client.start(link.timing, at: lower.context.now)
        else { return }
        begin(start, on: ref, link, &lower)
    }

    private mutating func begin(
        _ start: LinkClient.Start, on ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers
    ) {
        if lower.context.tapped.contains(.att) { reportRequest(start, on: ref, link, &lower) }
        switch start {
        case .transmit(let due): lower.schedule(.transmit(ref), on: ref, link, at: due)
        case .read(let due): lower.schedule(.answer(ref), on: ref, link, at: due)
        case .request(let event):
            guard let kind = self[ref]?.client.operations.first?.kind else { return }
            let (interval, delay) = (link.timing.interval, link.timing.delays.delay(of: kind))
            guard interval > 0 || delay > 0 else { return lower.context.queue.schedule(.answer(ref), at: event) }
            let database = lower.database(of: link)
            let count = roundTrips(of: kind, on: ref, link, database, &lower)
            let lost = lower.links.retransmissionTime(count, on: ref, link, &lower.air, &lower.context)
            // The host answers by itself what it knows, without time of the device.
            guard count > 0 else { return lower.context.queue.schedule(.answer(ref), at: event + lost) }
            let additional = link.additionalTime(ofATT: longPDUs(of: kind, on: link, database))
            lower.context.queue.schedule(
                .answer(ref), at: event + Nanoseconds(count) * interval + additional + lost + delay)
        }
    }

    /// The number of round trips before the first answer that an app can see.
    func roundTrips(
        of kind: LinkOperation.Kind, on ref: Ref<Link>, _ link: Link, _ database: AttributeDatabase?,
        _ lower: inout LowerLayers
    ) -> Int {
        guard let database else { return 1 }
        if kind.isDiscovery, self[ref]?.client.cache != nil { return 0 }
        if let sizes = entrySizes(of: kind, in: database) {
            if case .request(.discoverDescriptors) = kind, sizes.isEmpty { return 0 }
            return RoundTrips.finding(sizes: sizes, mtu: link.mtu)
        }
        switch kind {
        case .request(.readRSSI): return 0
        case .request(.write(_, let value, let offset)):
            return RoundTrips.writing(count: value.count, offset: offset, mtu: link.mtu)
        case .request(.setNotifying(let attribute, let isOn)):
            let others = lower.hosts[link.host].ledger.subscribers(of: attribute, at: link.peer).count
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
    private func longPDUs(of kind: LinkOperation.Kind, on link: Link, _ database: AttributeDatabase?) -> [Int] {
        guard let database else { return [] }
        if case .request(.write(_, let value, let offset)) = kind {
            return RoundTrips.longPDUs(writing: value.count, offset: offset, mtu: link.mtu)
        }
        return entrySizes(of: kind, in: database).map { RoundTrips.responses(sizes: $0, mtu: link.mtu) } ?? []
    }

    // MARK: Responses

    /// Removes the operation whose answer arrived; returns nil on a silent link, where the answer waits for the end of
    /// the silence.
    mutating func takeAnswered(_ ref: Ref<Link>, _ links: inout LinkLayer) -> ATTTransaction? {
        guard !links.isMissed(.answer(ref), on: ref), let link = links[ref],
            let operation = self[ref]?.client.operations.popFirst()
        else { return nil }
        return ATTTransaction(operation, on: ref, link)
    }

    /// Delivers the response of an operation and begins the next one, unless a fault delays or loses the response.
    mutating func complete(
        _ operation: LinkOperation, _ response: LinkResponse, on ref: Ref<Link>, _ lower: inout LowerLayers
    ) {
        switch operation.answerFault {
        case nil, .fail?, .delay?, .pause?, .disconnect?: deliver(response, of: operation, on: ref, &lower)
        case .loseAnswer?: lower.links.fallSilent(ref, isLost: true, &lower.context)
        case .delayAnswer(let time)?: delay(response, of: operation, by: time, on: ref, &lower)
        case .corrupt?: deliver(corrupted(response, &lower.context), of: operation, on: ref, &lower)
        }
    }

    private mutating func deliver(
        _ response: LinkResponse, of operation: LinkOperation, on ref: Ref<Link>, _ lower: inout LowerLayers
    ) {
        if lower.context.tapped.contains(.att) { reportResponse(response, to: operation.kind, on: ref, &lower) }
        if lower.hosts.holdsLink(of: operation) {
            lower.context.emit(
                .response(link: operation.link, operation: operation.operation, response), to: operation.manager)
        }
        release(ref, &lower)
    }

    /// Fails a refused operation; if encryption was missing, the host pairs and retries once by itself.
    mutating func fail(
        _ answered: ATTTransaction, _ code: ATTCode, _ name: String, _ lower: inout LowerLayers
    ) -> Demand? {
        let (operation, ref) = (answered.operation, answered.ref)
        let error = BackendError.att(code.rawValue, operation: name)
        guard code == .insufficientAuthentication || code == .insufficientEncryption, !operation.isRetried,
            answered.link.security.refusal != nil, !lower.hosts.isExternal(operation.manager)
        else {
            complete(operation, .failure(error), on: ref, &lower)
            return nil
        }
        if lower.context.tapped.contains(.att) { reportResponse(.failure(error), to: operation.kind, on: ref, &lower) }
        return .pairing(operation, code)
    }

    /// Fails an operation that the device refused with its own error.
    mutating func fail(
        _ answered: ATTTransaction, carrying original: OpaqueError, _ name: String, _ lower: inout LowerLayers
    ) {
        var error = BackendError.att(ATTCode.unlikelyError.rawValue, operation: name)
        error.original = original
        complete(answered.operation, .failure(error), on: answered.ref, &lower)
    }

    /// Completes an operation when the rest of a long value, or a delayed response, has arrived.
    mutating func finish(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard !lower.links.isMissed(.finish(ref), on: ref), let finishing = self[ref]?.client.finishing.take() else {
            return
        }
        stopTimeout(ref, &lower.context)
        complete(finishing.operation, finishing.response, on: ref, &lower)
    }

    /// Starts the timeout of an open request; after 30 s nothing more may be sent on the link (Core Specification, Vol
    /// 3, Part F, 3.3.3).
    mutating func startTimeout(_ ref: Ref<Link>, _ context: inout WorldContext) {
        let token = context.queue.scheduleCancellable(
            .transactionTimeout(ref), at: context.now + Duration.seconds(30).nanoseconds)
        self[ref]?.server.transactionTimeout = token
    }

    mutating func stopTimeout(_ ref: Ref<Link>, _ context: inout WorldContext) {
        if let token = self[ref]?.server.transactionTimeout.take() { context.queue.cancel(token) }
    }

    // MARK: Write commands

    /// The room that a side has at a time.
    struct Room: Sendable {
        /// The number of packets left on a link without a connection interval; nil if the connection event decides.
        var packets: Int?
    }

    /// Begins a transmission of a side; returns nil if the side does not send now.
    mutating func beginTransmission(
        _ event: WorldEvent, by side: LinkSide, on ref: Ref<Link>, _ lower: inout LowerLayers
    ) -> Room? {
        let timing = lower.links.beginTransmission(event, of: .attributes, by: side, on: ref, &lower.context)
        return timing.map { Room(packets: $0.eventLength == 0 ? $0.maximumPackets : nil) }
    }

    /// Sends the write command at the head of the queue.
    ///
    /// - Returns: The command; nil if the head is no write command, or the connection event has no room for all of it.
    mutating func sendWriteCommand(on ref: Ref<Link>, _ room: inout Room, _ lower: inout LowerLayers) -> ATTTransaction?
    {
        // A fault may have lost the link after an earlier command.
        guard let link = lower.links[ref], !link.supervision.isSilent else { return nil }
        if let left = room.packets {
            room.packets = left - 1
            guard left > 0 else { return nil }
        } else {
            guard let (length, offset) = self[ref]?.client.firstCommandLength else { return nil }
            if let sent = lower.links.sendATT(length, from: offset, by: .central, on: ref) {
                self[ref]?.client.bytesSent = sent
                return nil
            }
        }
        guard let operation = self[ref]?.client.takeWriteCommand() else { return nil }
        let command = ATTTransaction(operation, on: ref, link)
        if lower.context.tapped.contains(.att) { reportCommand(command, &lower) }
        return command
    }

    /// Continues after write commands were sent: with further ones at a later time, or with another operation.
    mutating func continueTransmitting(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard self[ref]?.client.operations.first?.kind.isWriteCommand == true, let link = lower.links[ref]
        else { return release(ref, &lower) }
        begin(.transmit(at: lower.context.now + link.timing.interval), on: ref, link, &lower)
    }
}
