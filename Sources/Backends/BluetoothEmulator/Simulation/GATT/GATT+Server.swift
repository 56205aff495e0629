import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The server's side of ATT: the answers of devices.
extension GATT {
    /// Whether the answer to an operation is complete.
    enum Answer: Sendable {
        /// The operation is completed, or will be.
        case given
        case demanding(Demand)
        /// The device's handler is to be asked.
        case handler(PeripheralRequest)

        init(_ demand: Demand?) { self = demand.map(Answer.demanding) ?? .given }
    }

    // MARK: Reading and writing

    /// Answers a read or a write.
    mutating func answer(_ answered: ATTTransaction, _ name: String, _ lower: inout LowerLayers) -> Answer {
        let (operation, ref) = (answered.operation, answered.ref)
        if failsByChance(&lower.context) {
            let code: ATTCode = operation.kind.isRead ? .readNotPermitted : .writeNotPermitted
            return Answer(fail(answered, code, name, &lower))
        }
        switch serve(answered, &lower) {
        case .value(let value)?: deliverRead(value, answered, &lower)
        case .echo(let attribute, let value)?:
            if let demand = notify(value, attribute, on: ref, &lower) { return .demanding(demand) }
            complete(operation, .written, on: ref, &lower)
        case .stored?: complete(operation, .written, on: ref, &lower)
        case .refused(let code)?: return Answer(fail(answered, code, name, &lower))
        case .held?: startTimeout(ref, &lower.context)
        case .clientConfiguration(let parent)?:
            deliverRead(self[ref]?.server.clientConfiguration(of: parent) ?? Data([0, 0]), answered, &lower)
        case .handler(let request)?: return .handler(request)
        case .manager(let owner)?: request(answered, of: owner, &lower)
        case nil: break
        }
        return .given
    }

    private func serve(_ answered: ATTTransaction, _ lower: inout LowerLayers) -> GATTServer.Access? {
        let limit = lower.context.configuration.prepareQueueLength
        return lower.air.devices[answered.link.device]?.serve(answered, limit, &lower.hosts)
    }

    mutating func deliverRead(_ value: Data, _ answered: ATTTransaction, _ lower: inout LowerLayers) {
        let (operation, ref, link) = (answered.operation, answered.ref, answered.link)
        guard link.timing.interval > 0 else { return complete(operation, .value(value), on: ref, &lower) }
        let responses = RoundTrips.responses(reading: value.count, mtu: link.mtu)
        let additional = link.additionalTime(ofATT: responses)
        guard responses.count > 1 || additional > 0 else { return complete(operation, .value(value), on: ref, &lower) }
        self[ref]?.client.finishing = (operation, .value(value))
        let lost =
            responses.count > 1
            ? lower.links.retransmissionTime(responses.count - 1, on: ref, link, &lower.air, &lower.context) : 0
        let rest = Nanoseconds(responses.count - 1) * link.timing.interval
        lower.context.queue.schedule(.finish(ref), at: lower.context.now + rest + additional + lost)
    }

    /// Answers what the host asks by itself or knows without the device's database: the name, the signal strength.
    mutating func readDeviceName(_ answered: ATTTransaction, _ lower: inout LowerLayers) {
        let (host, peer) = (answered.link.host, answered.link.peer)
        if let value = lower.air.devices[answered.link.device]?.server.deviceNameValue {
            if lower.context.tapped.contains(.att) {
                reportResponse(.value(value), to: .deviceName, on: answered.ref, &lower)
            }
            let name = String(decoding: value, as: UTF8.self)
            if let known = lower.hosts[host].peers[peer] {
                lower.hosts[host].peers[peer]?.deviceName = name
                if known.name != name { lower.hosts.reportName(peer, name, .gap, on: host, &lower.context) }
            }
        }
        release(answered.ref, &lower)
    }

    mutating func readRSSI(_ answered: ATTTransaction, _ lower: inout LowerLayers) {
        let response: LinkResponse
        if lower.hosts[answered.link.host].adapter.features.contains(.connectedRSSI) {
            let deviation = lower.context.configuration.rssiDeviation
            let rssi = lower.air.devices[answered.link.device]?.signal.measure(deviation)
            response = .rssi(rssi ?? 127)
        } else {
            response = .failure(BackendError(.operationNotSupported, operation: "read RSSI"))
        }
        complete(answered.operation, response, on: answered.ref, &lower)
    }

    // MARK: Write commands and handlers

    /// Handles the arrival of a write command; errors are not reported.
    mutating func receive(_ command: ATTTransaction, _ lower: inout LowerLayers) -> Answer {
        guard case .writeCommand(let attribute, let value) = command.operation.kind else { return .given }
        guard value.count <= ATTLimits.written(mtu: command.link.mtu) else {
            lower.context.log("write command longer than the MTU allows dropped")
            return .given
        }
        switch serve(command, &lower) {
        case .refused?: lower.context.log("write command refused by the device")
        case .handler(let request)?: return .handler(request)
        case .manager(let owner)?: passCommand(value, to: owner, command, &lower)
        case .echo(_, let value)?: return Answer(notify(value, attribute, on: command.ref, &lower))
        default: break
        }
        return .given
    }

    /// Stores a written value, and notifies it to the writer if the attribute echoes.
    mutating func store(
        _ bytes: Data, from offset: UInt16 = 0, _ attribute: AttributeID, _ answered: ATTTransaction,
        _ lower: inout LowerLayers
    ) -> Demand? {
        let echo = lower.air.devices[answered.link.device]?.server.store(bytes, from: offset, in: attribute)
        guard let echo else { return nil }
        return notify(echo, attribute, on: answered.ref, &lower)
    }

    /// Handles a handler's answer to a read or a write.
    mutating func handlerAnswered(
        _ response: PeripheralResponse, to answered: ATTTransaction, _ name: String, _ lower: inout LowerLayers
    ) -> Demand? {
        let operation = answered.operation
        switch (operation.kind, response) {
        case (_, .unanswered): startTimeout(answered.ref, &lower.context)
        case (_, .error(let code)): return fail(answered, code, name, &lower)
        case (_, .failure(let error)): fail(answered, carrying: error, name, &lower)
        case (.request(.read), .value(let value)): deliverRead(value.prefix(ATTLimits.longestValue), answered, &lower)
        case (.request(.read(let attribute)), _):
            deliverRead(lower.database(of: answered.link)?[attribute]?.value ?? Data(), answered, &lower)
        case (.request(.write(let attribute, let value, let offset)), _):
            if response == .stored, let demand = store(value, from: offset, attribute, answered, &lower) {
                return demand
            }
            complete(operation, .written, on: answered.ref, &lower)
        default: release(answered.ref, &lower)
        }
        return nil
    }

    /// Returns an operation that a handler answers, if it is still outstanding.
    mutating func takePending(_ number: UInt64, on ref: Ref<Link>, _ lower: inout LowerLayers) -> ATTTransaction? {
        guard let link = lower.links[ref],
            let pending = self[ref]?.server.takePending(if: { $0.number == number && $0.manager == nil })
        else { return nil }
        stopTimeout(ref, &lower.context)
        return ATTTransaction(pending.operation, on: ref, link)
    }

    /// Leaves an operation open until an asynchronous handler or a manager answers it; returns the number of the request.
    mutating func leaveOpen(
        _ answered: ATTTransaction, for manager: Ref<Manager>? = nil, collected: Data = Data(),
        _ context: inout WorldContext
    ) -> UInt64 {
        let number = context.identifiers.nextRequest()
        self[answered.ref]?.server.pendingRequest = LinkServer.PendingRequest(
            number: number, operation: answered.operation, manager: manager, collected: collected)
        startTimeout(answered.ref, &context)
        return number
    }

    private func failsByChance(_ context: inout WorldContext) -> Bool {
        let rate = context.configuration.operationErrorRate
        return rate > 0 && context.random.faults.happens(rate)
    }

    // MARK: Subscribing

    /// The effect of a client's change of its subscription on the server.
    enum SubscriptionChange: Sendable {
        case subscribe(BluetoothUUID, LinkServer.Subscription)
        case unsubscribe
        /// Other managers of the host subscribe as well.
        case none
        case refused(ATTCode)
    }

    /// Registers the subscription of a manager, or its end.
    func setNotifying(
        _ attribute: AttributeID, _ isOn: Bool, _ operation: LinkOperation, on link: Link, _ lower: inout LowerLayers
    ) -> SubscriptionChange {
        guard let database = lower.database(of: link), let found = database[attribute] else {
            return .refused(.invalidHandle)
        }
        if let code = database.subscriptionRefusal(found, on: link.security) { return .refused(code) }
        let mustAct = lower.hosts[link.host].ledger.setSubscribed(
            operation.manager.packed, to: attribute, of: link.peer, isOn)
        guard mustAct else { return .none }
        return isOn ? .subscribe(found.uuid, .init(preferredBy: found.access.properties)) : .unsubscribe
    }

    // MARK: Discovering

    mutating func discover(_ answered: ATTTransaction, _ lower: inout LowerLayers) -> Demand? {
        guard let database = knownDatabase(on: answered.ref, answered.link, &lower) else {
            release(answered.ref, &lower)
            return nil
        }
        guard let response = database.response(to: answered.operation.kind) else {
            return fail(answered, .invalidHandle, "discover", &lower)
        }
        complete(answered.operation, response, on: answered.ref, &lower)
        return nil
    }

    /// Returns the database that the client of a link knows: the one that it remembers, else the device's.
    func knownDatabase(on ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers) -> AttributeDatabase? {
        self[ref]?.client.cache ?? lower.database(of: link)
    }
}

extension AttributeDatabase {
    /// Returns the error for a subscription that a characteristic does not allow; nil if it does.
    fileprivate func subscriptionRefusal(_ attribute: Attribute, on security: SecurityLevel) -> ATTCode? {
        let properties = attribute.access.properties
        if properties.isDisjoint(with: [.notify, .indicate]) { return .requestNotSupported }
        guard attribute.children.contains(where: { self[$0]?.role == .clientConfiguration }) else {
            return .attributeNotFound
        }
        let encrypted: CharacteristicProperties =
            properties.contains(.notify) ? .notifyEncryptionRequired : .indicateEncryptionRequired
        return properties.contains(encrypted) ? security.refusal : nil
    }

    /// Returns the response to a discovery; nil if an attribute does not exist.
    fileprivate func response(to kind: LinkOperation.Kind) -> LinkResponse? {
        func wanted(_ ids: [AttributeID], _ uuids: [BluetoothUUID]?) -> [AttributeID] {
            guard let uuids, !uuids.isEmpty else { return ids }
            return ids.filter { id in self[id].map { uuids.contains($0.uuid) } ?? true }
        }
        return switch kind {
        case .request(.discoverServices(let uuids)):
            // This finds primary services only; 1800 and 1801 belong to the host, not to the apps.
            .services(wanted(visibleServices, uuids).compactMap(record(ofService:)).filter(\.isPrimary))
        case .request(.discoverIncludedServices(let service, let uuids)):
            (self[service]?.included).map { .services(wanted($0, uuids).compactMap(record(ofService:))) }
        case .request(.discoverCharacteristics(let service, let uuids)):
            (self[service]?.children).map { .characteristics(wanted($0, uuids).compactMap(record(ofCharacteristic:))) }
        case .request(.discoverDescriptors(let characteristic)):
            (self[characteristic]?.children).map { .descriptors($0.compactMap(record(ofDescriptor:))) }
        default: nil
        }
    }
}
