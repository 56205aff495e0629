import BluetoothLocking
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
        let waiter = withState { $0.additions.removeValue(forKey: ObjectIdentifier(service)) }
        waiter?.finish(error.map { .failure(OperationFailure(.refused($0))) } ?? .success(()))
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        transition(peripheral) { $0.advertisingStarted(error) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { pump(peripheral) }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        tell(characteristic) { .subscribed(RemoteCentral(central), $0) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        tell(characteristic) { .unsubscribed(RemoteCentral(central), $0) }
        // What waited for this central's room alone goes to nobody now.
        pump(peripheral)
    }

    private func tell(_ characteristic: CBCharacteristic, _ event: (CharacteristicID) -> SubscriptionEvent) {
        let (id, buffers) = withState { state in
            (state.attributes[ObjectIdentifier(characteristic)]?.id, Array(state.subscriptionBuffers.values))
        }
        guard let id else { return }
        let told = event(id)
        for buffer in buffers { buffer.append(told) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        let waiter = transition(peripheral) { $0.published() }
        if let error {
            waiter?.finish(.failure(OperationFailure(.refused(error))))
        } else if waiter?.finish(.success(PSM)) != true {
            // The caller does not wait any more.
            transition(peripheral) { $0.order(.unpublish(PSM)) }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else {
            return log.debug(
                .server, "a channel could not be opened: \(error?.localizedDescription ?? "no reason given")")
        }
        let buffers = withState { Array($0.channelBuffers.values) }
        let bytes = ByteChannel(Unchecked(channel))
        for buffer in buffers { buffer.append(bytes) }
    }
}

/// Requests of other devices, each answered by a task.
extension ServerCoordinator {
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let manager = Unchecked(peripheral)
        let request = Unchecked(request)
        let attribute = withState { $0.attributes[ObjectIdentifier(request.value.characteristic)] }
        guard let handler = attribute?.served.onRead else {
            return peripheral.respond(to: request.value, withResult: .readNotPermitted)
        }
        let central = RemoteCentral(request.value.central)
        handle(refuse: { peripheral.respond(to: request.value, withResult: .insufficientResources) }) {
            let result: CBATTError.Code
            do {
                let value = try await self.limited(by: manager) { try await handler(central) }
                if request.value.offset <= value.count {
                    request.value.value = Data(value.dropFirst(request.value.offset))
                    result = .success
                } else {
                    result = .invalidOffset
                }
            } catch {
                result = error.attCode
            }
            manager.value.respond(to: request.value, withResult: result)
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        let manager = Unchecked(peripheral)
        let answered = Unchecked(first)
        let writes = joined(requests)
        guard let writes else { return peripheral.respond(to: first, withResult: .writeNotPermitted) }
        handle(refuse: { peripheral.respond(to: first, withResult: .insufficientResources) }) {
            var result = CBATTError.Code.success
            do {
                for (handler, write) in writes { try await self.limited(by: manager) { try await handler(write) } }
            } catch {
                result = error.attCode
            }
            manager.value.respond(to: answered.value, withResult: result)
        }
    }

    /// The writes with their handlers, the parts of a long one joined; nil if one has no handler.
    private func joined(_ requests: [CBATTRequest]) -> [(ServedCharacteristic.WriteHandler, WriteRequest)]? {
        var writes: [(handler: ServedCharacteristic.WriteHandler, request: WriteRequest)] = []
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
            let attribute = withState { $0.attributes[ObjectIdentifier(request.characteristic)] }
            guard let handler = attribute?.served.onWrite else { return nil }
            previous = request.characteristic
            let write = WriteRequest(central: RemoteCentral(request.central), value: value, offset: request.offset)
            writes.append((handler, write))
        }
        return writes
    }
}

extension Error {
    /// What a device is told of a handler's error.
    fileprivate var attCode: CBATTError.Code { (self as? CBATTError)?.code ?? .unlikelyError }
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
            guard state.handlers.count < limit else {
                state.refusedCount += 1
                return (nil, state.refusedCount == 1)
            }
            let number = state.newNumber()
            state.handlers[number] = .some(nil)
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
            self?.withState { $0.handlers[number] = nil }
        }
        withState { state in
            if state.handlers[number] != nil { state.handlers[number] = task }
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
