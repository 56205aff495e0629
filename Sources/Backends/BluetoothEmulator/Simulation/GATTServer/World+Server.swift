import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The server's side of ATT: the answers of a device.
extension World {
    /// Performs an operation at the device, and completes it unless the answer comes later.
    mutating func perform(_ answered: Link.CompletedRequest, on ref: Ref<Link>) {
        let operation = answered.operation
        switch operation.kind {
        case .request(.read(let attribute)): read(attribute, answered, on: ref)
        case .request(.write(let attribute, let value, let offset)):
            write(attribute, value, from: offset, answered, on: ref)
        case .writeCommand: break  // sent by transmit, without an answer
        case .request(.setNotifying): if isGranted(answered, on: ref) { grant(operation, on: ref) }
        case .request(.readRSSI):
            guard hosts[answered.host].adapter.features.contains(.connectedRSSI) else {
                let error = BackendError(.operationNotSupported, operation: "read RSSI")
                return complete(operation, .failure(error), on: ref)
            }
            let rssi = air.devices[answered.device]?.signal.measure(context.configuration.rssiDeviation)
            complete(operation, .rssi(rssi ?? 127), on: ref)
        case .deviceName: readDeviceName(on: ref)
        case .request(.openChannel(let psm)): openChannel(psm, operation, on: ref)
        case .request:
            if isGranted(answered, on: ref) { grant(operation, on: ref) }
        }
    }

    /// Performs a discovery or a subscription that the device's handler granted.
    mutating func grant(_ operation: LinkOperation, on ref: Ref<Link>) {
        guard case .request(.setNotifying(let attribute, let isOn)) = operation.kind else {
            return discover(operation, on: ref)
        }
        setNotifying(attribute, isOn, operation, on: ref)
    }

    // MARK: Reading

    private mutating func read(_ attribute: AttributeID, _ answered: Link.CompletedRequest, on ref: Ref<Link>) {
        let operation = answered.operation
        if context.configuration.operationErrorRate > 0,
            context.random.faults.happens(context.configuration.operationErrorRate)
        {
            return fail(operation, .readNotPermitted, on: ref, "read")
        }
        guard let access = air.devices[answered.device]?.server.read(attribute, on: answered.security) else { return }
        switch access {
        case .value(let value): deliverRead(value, answered, on: ref)
        case .refused(let code): fail(operation, code, on: ref, "read")
        case .held: startTransactionTimeout(ref)
        case .clientConfiguration:
            let parent = air.devices[answered.device]?.server.database[attribute]?.parent
            let value = parent.flatMap { links[ref]?.server.clientConfiguration(of: $0) }
            deliverRead(value ?? Data([0, 0]), answered, on: ref)
        case .handler:
            switch ask(answered, attribute, .read, on: ref) {
            case .stored?, .accepted?:
                deliverRead(
                    air.devices[answered.device]?.server.database[attribute]?.value ?? Data(), answered, on: ref)
            case .value(let value)?: deliverRead(value.prefix(ATTLimits.longestValue), answered, on: ref)
            case .error(let code)?: fail(operation, code, on: ref, "read")
            case .failure(let error)?: fail(operation, carrying: error, on: ref, "read")
            case .unanswered?: startTransactionTimeout(ref)
            case nil: break
            }
        case .manager: requestRead(attribute, answered, on: ref)
        }
    }

    private mutating func deliverRead(_ value: Data, _ answered: Link.CompletedRequest, on ref: Ref<Link>) {
        let operation = answered.operation
        guard answered.interval > 0 else { return complete(operation, .value(value), on: ref) }
        let responses = RoundTrips.responses(reading: value.count, mtu: answered.mtu)
        let additional = links.additionalTime(ofATT: responses, on: ref)
        guard responses.count > 1 || additional > 0 else { return complete(operation, .value(value), on: ref) }
        links[ref]?.client.finishing = (operation, .value(value))
        let lost = responses.count > 1 ? links.retransmissionTime(responses.count - 1, on: ref, &air, &context) : 0
        let rest = Nanoseconds(responses.count - 1) * answered.interval
        context.queue.schedule(.finish(ref), at: context.now + rest + additional + lost)
    }

    private mutating func readDeviceName(on ref: Ref<Link>) {
        defer { release(ref) }
        guard let link = links[ref], let device = air.devices[link.device],
            let value = device.server.database[device.server.deviceName]?.value
        else { return }
        if context.tapped.contains(.att) { reportResponse(.value(value), to: .deviceName, on: ref) }
        let name = String(decoding: value, as: UTF8.self)
        guard let known = hosts[link.host].peers[link.peer] else { return }
        hosts[link.host].peers[link.peer]?.deviceName = name
        if known.name != name { hosts.reportName(link.peer, name, .gap, on: link.host, &context) }
    }

    // MARK: Writing

    private mutating func write(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16, _ answered: Link.CompletedRequest,
        on ref: Ref<Link>
    ) {
        let operation = answered.operation
        if context.configuration.operationErrorRate > 0,
            context.random.faults.happens(context.configuration.operationErrorRate)
        {
            return fail(operation, .writeNotPermitted, on: ref, "write")
        }
        if let code = preparationRefusal(attribute, value, from: offset, answered) {
            return fail(operation, code, on: ref, "write")
        }
        guard
            let access = air.devices[answered.device]?.server.write(
                attribute, value, from: offset, needs: .write, on: answered.security)
        else { return }
        switch access {
        case .refused(let code): return fail(operation, code, on: ref, "write")
        case .handler:
            let whole = air.devices[answered.device]?.server.database.value(of: attribute, writing: value, from: offset)
            switch ask(answered, attribute, .write(whole ?? value), on: ref) {
            case .stored?, .value?: store(value, from: offset, attribute, answered.device, on: ref)
            case .accepted?: break
            case .error(let code)?: return fail(operation, code, on: ref, "write")
            case .failure(let error)?: return fail(operation, carrying: error, on: ref, "write")
            case .unanswered?: return startTransactionTimeout(ref)
            case nil: return
            }
        case .manager: return requestWrite(attribute, value, from: offset, answered, on: ref)
        case .echo: store(value, from: offset, attribute, answered.device, on: ref)
        case .stored: break
        }
        complete(operation, .written, on: ref)
    }

    /// Handles the arrival of a write command; errors are not reported.
    mutating func receiveCommand(_ command: Link.CompletedRequest, on ref: Ref<Link>) {
        guard case .writeCommand(let attribute, let value) = command.operation.kind else { return }
        guard value.count <= ATTLimits.written(mtu: command.mtu) else {
            return context.log("write command longer than the MTU allows dropped")
        }
        switch air.devices[command.device]?.server.write(
            attribute, value, needs: .writeWithoutResponse, on: command.security)
        {
        case .refused?: context.log("write command refused by the device")
        case .handler?:
            let response = ask(command, attribute, .writeCommand(value), on: ref)
            if response == .stored { store(value, attribute, command.device, on: ref) }
        case .manager?: passCommand(attribute, value, command, on: ref)
        case .echo?: store(value, attribute, command.device, on: ref)
        case .stored?, nil: break
        }
    }

    mutating func store(
        _ bytes: Data, from offset: UInt16 = 0, _ attribute: AttributeID, _ device: Ref<Device>, on ref: Ref<Link>
    ) {
        guard let value = air.devices[device]?.server.database.value(of: attribute, writing: bytes, from: offset) else {
            return
        }
        air.devices[device]?.server.database[attribute]?.value = value
        if air.devices[device]?.server.database[attribute]?.access.isEcho == true { notify(value, attribute, on: ref) }
    }

    // MARK: Handlers

    /// Asks the device's handler.
    ///
    /// - Returns: nil if the answer comes later.
    private mutating func ask(
        _ answered: Link.CompletedRequest, _ attribute: AttributeID, _ kind: PeripheralRequest.Kind, on ref: Ref<Link>
    ) -> PeripheralResponse? {
        let device = answered.device
        let central = links.central(of: ref, hosts)
        guard var request = air.devices[device]?.server.request(attribute, kind, from: central) else {
            return .error(.invalidHandle)
        }
        request.written = answered.operation.kind.written
        if air.devices[device]?.handler.asynchronous != nil {
            if case .writeCommand(let value) = kind {
                call(device, .request(request), for: .command(ref, attribute, value))
            } else {
                ask(.request(request), about: answered, on: ref)
            }
            return nil
        }
        var actions = DeviceActions(now: .nanoseconds(context.now), date: context.date)
        let response = air.devices[device]?.handler.behavior?.respond(to: request, device: &actions)
        for control in actions.controls { apply(control, to: device) }
        return response
    }

    /// Handles a handler's answer to a read or a write.
    mutating func answered(_ ref: Ref<Link>, _ number: UInt64, _ response: PeripheralResponse) {
        guard response != .unanswered, let answered = links[ref]?.takePendingRequest(number) else { return }
        let operation = answered.operation
        stopTransactionTimeout(ref)
        switch (operation.kind, response) {
        case (_, .error(let code)): fail(operation, code, on: ref, "request")
        case (_, .failure(let error)): fail(operation, carrying: error, on: ref, "request")
        case (.request(.read), .value(let value)): deliverRead(value.prefix(ATTLimits.longestValue), answered, on: ref)
        case (.request(.read(let attribute)), _):
            deliverRead(air.devices[answered.device]?.server.database[attribute]?.value ?? Data(), answered, on: ref)
        case (.request(.write(let attribute, let value, let offset)), _):
            if response == .stored { store(value, from: offset, attribute, answered.device, on: ref) }
            complete(operation, .written, on: ref)
        default: release(ref)
        }
    }

    /// Starts the timeout of an open request; after 30 s nothing more may be sent on the link (Core Specification, Vol
    /// 3, Part F, 3.3.3).
    mutating func startTransactionTimeout(_ ref: Ref<Link>) {
        let token = context.queue.scheduleCancellable(
            .transactionTimeout(ref), at: context.now + Duration.seconds(30).nanoseconds)
        links[ref]?.server.transactionTimeout = token
    }

    mutating func stopTransactionTimeout(_ ref: Ref<Link>) {
        if let token = links[ref]?.server.transactionTimeout { context.queue.cancel(token) }
        links[ref]?.server.transactionTimeout = nil
    }

    // MARK: Subscribing

    private mutating func setNotifying(
        _ attribute: AttributeID, _ isOn: Bool, _ operation: LinkOperation, on ref: Ref<Link>
    ) {
        guard let link = links[ref], let database = air.devices[link.device]?.server.database,
            let found = database[attribute]
        else { return fail(operation, .invalidHandle, on: ref, "subscribe") }
        if let code = subscriptionRefusal(found, in: database, on: link.security) {
            return fail(operation, code, on: ref, "subscribe")
        }
        let mustAct = hosts[link.host].ledger.setSubscribed(
            operation.manager.packed, to: attribute, of: link.peer, isOn)
        if mustAct, isOn {
            subscribe(attribute, found.uuid, .init(preferredBy: found.access.properties), on: ref)
        } else if mustAct {
            unsubscribe(attribute, on: ref)
        }
        complete(operation, .notifying(isOn), on: ref)
    }

    private func subscriptionRefusal(
        _ attribute: Attribute, in database: AttributeDatabase, on security: SecurityLevel
    ) -> ATTCode? {
        let properties = attribute.access.properties
        if properties.isDisjoint(with: [.notify, .indicate]) { return .requestNotSupported }
        guard attribute.children.contains(where: { database[$0]?.role == .clientConfiguration }) else {
            return .attributeNotFound
        }
        let encrypted: CharacteristicProperties =
            properties.contains(.notify) ? .notifyEncryptionRequired : .indicateEncryptionRequired
        return properties.contains(encrypted) ? security.refusal : nil
    }

    // MARK: Discovering

    private mutating func discover(_ operation: LinkOperation, on ref: Ref<Link>) {
        guard let database = links[ref].flatMap({ $0.client.cache ?? air.devices[$0.device]?.server.database }) else {
            return release(ref)
        }
        func wanted(_ ids: [AttributeID], _ uuids: [BluetoothUUID]?) -> [AttributeID] {
            guard let uuids, !uuids.isEmpty else { return ids }
            return ids.filter { id in database[id].map { uuids.contains($0.uuid) } ?? true }
        }
        let response: LinkResponse? =
            switch operation.kind {
            case .request(.discoverServices(let uuids)):
                // This finds primary services only; 1800 and 1801 belong to the host, not to the apps.
                .services(
                    wanted(database.visibleServices, uuids).compactMap(database.record(ofService:))
                        .filter(\.isPrimary))
            case .request(.discoverIncludedServices(let service, let uuids)):
                (database[service]?.included).map {
                    .services(wanted($0, uuids).compactMap(database.record(ofService:)))
                }
            case .request(.discoverCharacteristics(let service, let uuids)):
                (database[service]?.children).map {
                    .characteristics(wanted($0, uuids).compactMap(database.record(ofCharacteristic:)))
                }
            case .request(.discoverDescriptors(let characteristic)):
                (database[characteristic]?.children).map {
                    .descriptors($0.compactMap(database.record(ofDescriptor:)))
                }
            default: nil
            }
        guard let response else { return fail(operation, .invalidHandle, on: ref, "discover") }
        complete(operation, response, on: ref)
    }
}
