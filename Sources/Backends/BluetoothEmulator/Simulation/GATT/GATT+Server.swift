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

    // MARK: Reading

    mutating func read(_ attribute: AttributeID, _ answered: ATTTransaction, _ lower: inout LowerLayers) -> Answer {
        if failsByChance(&lower.context) { return Answer(fail(answered, .readNotPermitted, "read", &lower)) }
        guard let access = lower.air.devices[answered.device]?.server.read(attribute, on: answered.security) else {
            return .given
        }
        switch access {
        case .value(let value): deliverRead(value, answered, &lower)
        case .refused(let code): return Answer(fail(answered, code, "read", &lower))
        case .held: startTimeout(answered.ref, &lower.context)
        case .clientConfiguration(let parent):
            let value = self[answered.ref]?.server.clientConfiguration(of: parent)
            deliverRead(value ?? Data([0, 0]), answered, &lower)
        case .handler: return question(.read, attribute, answered, "read", &lower)
        case .manager: requestRead(attribute, answered, &lower)
        }
        return .given
    }

    mutating func deliverRead(_ value: Data, _ answered: ATTTransaction, _ lower: inout LowerLayers) {
        let (operation, ref) = (answered.operation, answered.ref)
        guard answered.interval > 0 else { return complete(operation, .value(value), on: ref, &lower) }
        let responses = RoundTrips.responses(reading: value.count, mtu: answered.mtu)
        let additional = lower.links.additionalTime(ofATT: responses, on: ref)
        guard responses.count > 1 || additional > 0 else { return complete(operation, .value(value), on: ref, &lower) }
        self[ref]?.client.finishing = (operation, .value(value))
        let lost =
            responses.count > 1
            ? lower.links.retransmissionTime(responses.count - 1, on: ref, &lower.air, &lower.context) : 0
        let rest = Nanoseconds(responses.count - 1) * answered.interval
        lower.context.queue.schedule(.finish(ref), at: lower.context.now + rest + additional + lost)
    }

    /// Answers what the host asks by itself or knows without the device's database: the name, the signal strength.
    mutating func readDeviceName(_ answered: ATTTransaction, _ lower: inout LowerLayers) {
        if let value = lower.air.devices[answered.device]?.server.deviceNameValue {
            if lower.context.tapped.contains(.att) {
                reportResponse(.value(value), to: .deviceName, on: answered.ref, &lower)
            }
            let (host, peer, name) = (answered.host, answered.peer, String(decoding: value, as: UTF8.self))
            if let known = lower.hosts[host].peers[peer] {
                lower.hosts[host].peers[peer]?.deviceName = name
                if known.name != name { lower.hosts.reportName(peer, name, .gap, on: host, &lower.context) }
            }
        }
        release(answered.ref, &lower)
    }

    mutating func readRSSI(_ answered: ATTTransaction, _ lower: inout LowerLayers) {
        let response: LinkResponse
        if lower.hosts[answered.host].adapter.features.contains(.connectedRSSI) {
            let rssi = lower.air.devices[answered.device]?.signal.measure(lower.context.configuration.rssiDeviation)
            response = .rssi(rssi ?? 127)
        } else {
            response = .failure(BackendError(.operationNotSupported, operation: "read RSSI"))
        }
        complete(answered.operation, response, on: answered.ref, &lower)
    }

    // MARK: Writing

    mutating func write(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16, _ answered: ATTTransaction,
        _ lower: inout LowerLayers
    ) -> Answer {
        if failsByChance(&lower.context) { return Answer(fail(answered, .writeNotPermitted, "write", &lower)) }
        let limit = lower.context.configuration.prepareQueueLength
        guard let access = lower.air.devices[answered.device]?.write(attribute, value, from: offset, answered, limit)
        else { return .given }
        switch access {
        case .refused(let code): return Answer(fail(answered, code, "write", &lower))
        case .handler(let whole): return question(.write(whole), attribute, answered, "write", &lower)
        case .manager:
            requestWrite(attribute, value, from: offset, answered, &lower)
            return .given
        case .echo:
            if let demand = store(value, from: offset, attribute, answered, &lower) { return .demanding(demand) }
        case .stored: break
        }
        complete(answered.operation, .written, on: answered.ref, &lower)
        return .given
    }

    /// Handles the arrival of a write command; errors are not reported.
    mutating func receive(_ command: ATTTransaction, _ lower: inout LowerLayers) -> Answer {
        guard case .writeCommand(let attribute, let value) = command.operation.kind else { return .given }
        guard value.count <= ATTLimits.written(mtu: command.mtu) else {
            lower.context.log("write command longer than the MTU allows dropped")
            return .given
        }
        switch lower.air.devices[command.device]?.server.write(
            attribute, value, needs: .writeWithoutResponse, on: command.security)
        {
        case .refused?: lower.context.log("write command refused by the device")
        case .handler?:
            let central = lower.links.central(of: command.ref, lower.hosts)
            let request = lower.air.devices[command.device]?.server.request(
                attribute, .writeCommand(value), command.operation, from: central)
            return request.map(Answer.handler) ?? .given
        case .manager?: passCommand(attribute, value, command, &lower)
        case .echo?: return Answer(store(value, attribute, command, &lower))
        case .stored?, nil: break
        }
        return .given
    }

    /// Stores a written value, and notifies it to the writer if the attribute echoes.
    mutating func store(
        _ bytes: Data, from offset: UInt16 = 0, _ attribute: AttributeID, _ answered: ATTTransaction,
        _ lower: inout LowerLayers
    ) -> Demand? {
        guard let echo = lower.air.devices[answered.device]?.server.store(bytes, from: offset, in: attribute) else {
            return nil
        }
        return notify(echo, attribute, on: answered.ref, &lower)
    }

    // MARK: Handlers

    /// Returns the question to the device's handler about a read or a write; fails the operation if the attribute was
    /// removed.
    private mutating func question(
        _ kind: PeripheralRequest.Kind, _ attribute: AttributeID, _ answered: ATTTransaction, _ name: String,
        _ lower: inout LowerLayers
    ) -> Answer {
        let central = lower.links.central(of: answered.ref, lower.hosts)
        if let request = lower.air.devices[answered.device]?.server.request(
            attribute, kind, answered.operation, from: central)
        {
            return .handler(request)
        }
        return Answer(fail(answered, .invalidHandle, name, &lower))
    }

    /// Handles a handler's answer to a read or a write.
    mutating func handlerAnswered(
        _ response: PeripheralResponse, to answered: ATTTransaction, _ name: String, _ lower: inout LowerLayers
    ) -> Demand? {
        let operation = answered.operation
        switch (operation.kind, response) {
        case (_, .unanswered): startTimeout(answered.ref, &lower.context)
        case (_, .error(let code)): return fail(answered, code, name, &lower)
        case (_, .failure(let error)): fail(operation, carrying: error, on: answered.ref, name, &lower)
        case (.request(.read), .value(let value)): deliverRead(value.prefix(ATTLimits.longestValue), answered, &lower)
        case (.request(.read(let attribute)), _):
            let value = lower.air.devices[answered.device]?.server.database[attribute]?.value
            deliverRead(value ?? Data(), answered, &lower)
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
        guard let link = lower.links[ref], let pending = self[ref]?.server.takePending(number, of: nil) else {
            return nil
        }
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

    mutating func fail(
        _ answered: ATTTransaction, _ code: ATTCode, _ name: String, _ lower: inout LowerLayers
    ) -> Demand? {
        fail(answered.operation, code, on: answered.ref, name, &lower)
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
        guard let database = lower.air.devices[link.device]?.server.database, let found = database[attribute] else {
            return .refused(.invalidHandle)
        }
        if let code = database.subscriptionRefusal(found, on: link.security) { return .refused(code) }
        let mustAct = lower.hosts[link.host].ledger.setSubscribed(
            operation.manager.packed, to: attribute, of: link.peer, isOn)
        guard mustAct else { return .none }
        return isOn ? .subscribe(found.uuid, .init(preferredBy: found.access.properties)) : .unsubscribe
    }

    // MARK: Discovering

    mutating func discover(_ operation: LinkOperation, on ref: Ref<Link>, _ lower: inout LowerLayers) -> Demand? {
        guard let device = lower.links[ref]?.device,
            let database = self[ref]?.client.cache ?? lower.air.devices[device]?.server.database
        else {
            release(ref, &lower)
            return nil
        }
        guard let response = database.response(to: operation.kind) else {
            return fail(operation, .invalidHandle, on: ref, "discover", &lower)
        }
        complete(operation, response, on: ref, &lower)
        return nil
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
