import BluetoothSupport
import CoreBluetooth

/// The manager's callbacks, on its queue.
extension ServerCoordinator: CBPeripheralManagerDelegate {
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let advertised = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        restore(
            dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? [],
            advertised.map { AdvertisedData($0) })
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        changeState(to: peripheral.state, peripheral)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        let waiter = withState { $0.published.additions.removeValue(forKey: ObjectIdentifier(service)) }
        waiter?.finish(error.map { .failure(OperationFailure(.refused($0))) } ?? .success(()))
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        transition(peripheral) { $0.advertisingStarted(error) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { pump(peripheral) }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        guard let id = id(of: characteristic) else { return }
        let central = RemoteCentral(central)
        deliver(.subscribed(central, id), .subscribed(central, id))
        addSubscriber(central.identifier, to: id, Unchecked(peripheral))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        if let id = id(of: characteristic) {
            let central = RemoteCentral(central)
            transition(peripheral) { $0.removeSubscriber(central.identifier, from: id) }
            deliver(.unsubscribed(central, id), .unsubscribed(central, id))
        }
        // Updates that waited only for room at this central no longer have a receiver.
        pump(peripheral)
    }

    /// The path of a published characteristic; nil if it was withdrawn meanwhile.
    private func id(of characteristic: CBCharacteristic) -> CharacteristicID? {
        withState { $0.published.attributes[ObjectIdentifier(characteristic)]?.id }
    }

    private func deliver(_ subscription: SubscriptionEvent, _ event: PeripheralServer.Event) {
        subscriptions.send(subscription)
        onEvent?(event)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        let waiter = transition(peripheral) { $0.takePublication() }
        if let error {
            waiter?.finish(.failure(OperationFailure(.refused(error))))
        } else if waiter?.finish(.success(PSM)) != true {
            // The caller was cancelled.
            transition(peripheral) { $0.order(.unpublish(PSM)) }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else {
            return log.debug(
                .server, "a channel could not be opened: \(error?.localizedDescription ?? "no reason given")")
        }
        channels.send(ByteChannel(Unchecked(channel)))
    }
}

/// Requests of other devices, each answered by a task.
extension ServerCoordinator {
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let attribute = withState { $0.published.attributes[ObjectIdentifier(request.characteristic)] }
        let (manager, request, id) = (Unchecked(peripheral), Unchecked(request), attribute?.id)
        guard let handler = attribute?.served.onRead else {
            return respond(to: request, of: id, .failure(CBATTError(.readNotPermitted)), manager)
        }
        let central = RemoteCentral(request.value.central)
        let refuse = { self.respond(to: request, of: id, .failure(CBATTError(.insufficientResources)), manager) }
        handle(refuse: refuse) {
            let result: Result<Data, CBATTError>
            do {
                let value = try await self.limited(by: manager) { try await handler(central) }
                let offset = request.value.offset
                result =
                    offset <= value.count ? .success(Data(value.dropFirst(offset))) : .failure(.init(.invalidOffset))
            } catch {
                result = .failure(error.attError)
            }
            self.respond(to: request, of: id, result, manager)
        }
    }

    private func respond(
        to request: Unchecked<CBATTRequest>, of id: CharacteristicID?, _ result: Result<Data, CBATTError>,
        _ manager: Unchecked<CBPeripheralManager>
    ) {
        switch result {
        case .success(let value):
            request.value.value = value
            manager.value.respond(to: request.value, withResult: .success)
        case .failure(let error): manager.value.respond(to: request.value, withResult: error.code)
        }
        if let id { onEvent?(.read(RemoteCentral(request.value.central), id, offset: request.value.offset, result)) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        let (manager, request) = (Unchecked(peripheral), Unchecked(first))
        let writes = joined(requests)
        if writes.contains(where: { $0.handler == nil }) {
            return respond(to: request, writes, CBATTError(.writeNotPermitted), manager)
        }
        let refuse = { self.respond(to: request, writes, CBATTError(.insufficientResources), manager) }
        handle(refuse: refuse) {
            var refusal: CBATTError?
            let deferred = DeferredUpdates()
            do {
                try await DeferredUpdates.$current.withValue(deferred) {
                    for write in writes {
                        guard let handler = write.handler else { continue }
                        try await self.limited(by: manager) { try await handler(write.request) }
                    }
                }
            } catch {
                refusal = error.attError
            }
            self.respond(to: request, writes, refusal, manager)
            for update in deferred.end() { _ = self.enqueue(update) }
            self.pump(manager.value)
        }
    }

    private func respond(
        to request: Unchecked<CBATTRequest>, _ writes: [Write], _ refusal: CBATTError?,
        _ manager: Unchecked<CBPeripheralManager>
    ) {
        manager.value.respond(to: request.value, withResult: refusal?.code ?? .success)
        for write in writes { if let id = write.id { onEvent?(.wrote(write.request, id, error: refusal)) } }
    }

    /// One write of a request, with the handler and the path of its characteristic.
    private struct Write: Sendable {
        let handler: ServedCharacteristic.WriteHandler?
        let id: CharacteristicID?
        var request: WriteRequest
    }

    /// The writes of a request, the parts of a long one joined.
    private func joined(_ requests: [CBATTRequest]) -> [Write] {
        var writes: [Write] = []
        var previous: CBCharacteristic?
        for request in requests {
            let value = request.value ?? Data()
            if let last = writes.last?.request, previous === request.characteristic,
                last.offset + last.value.count == request.offset
            {
                writes[writes.count - 1].request = WriteRequest(
                    central: last.central, value: last.value + value, offset: last.offset)
                continue
            }
            let attribute = withState { $0.published.attributes[ObjectIdentifier(request.characteristic)] }
            previous = request.characteristic
            let write = WriteRequest(central: RemoteCentral(request.central), value: value, offset: request.offset)
            writes.append(Write(handler: attribute?.served.onWrite, id: attribute?.id, request: write))
        }
        return writes
    }
}

extension Error {
    /// The ATT error that a device receives for a handler's error.
    fileprivate var attError: CBATTError { self as? CBATTError ?? CBATTError(.unlikelyError) }
}

/// The tasks that run the app's handlers.
extension ServerCoordinator {
    /// Runs a handler in a task that ends with the server.
    ///
    /// - Parameters:
    ///   - refuse: Is called instead when as many handlers run as the settings allow.
    ///   - body: The handler, and the answer.
    func handle(refuse: () -> Void, _ body: @escaping @Sendable () async -> Void) {
        let limit = max(1, settings.handlerLimit)
        let (number, isFirstRefusal) = withState { state -> (Int?, Bool) in
            guard state.handlers.tasks.count < limit else {
                state.handlers.refusedCount += 1
                return (nil, state.handlers.refusedCount == 1)
            }
            let number = state.newNumber()
            state.handlers.tasks[number] = .some(nil)
            return (number, false)
        }
        guard let number else {
            if isFirstRefusal {
                log.warning(.server, "\(limit) handlers run: requests are refused until one of them returns")
            }
            return refuse()
        }
        let task = Task(executorPreference: executor) { [weak self] in
            await body()
            self?.withState { $0.handlers.tasks[number] = nil }
        }
        withState { state in
            if state.handlers.tasks[number] != nil { state.handlers.tasks[number] = task }
        }
    }

    /// Runs a handler for as long as the settings allow.
    func limited<Result: Sendable>(
        by manager: Unchecked<CBPeripheralManager>, _ handler: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let limit = settings.handlerTimeout else { return try await handler() }
        do {
            return try await withTimeout(limit, clock: ManagerClock(of: manager.value), handler)
        } catch let error as BluetoothError {
            if case .timedOut = error.reason { log.warning(.server, "a handler was cancelled after \(limit)") }
            throw error
        }
    }
}
