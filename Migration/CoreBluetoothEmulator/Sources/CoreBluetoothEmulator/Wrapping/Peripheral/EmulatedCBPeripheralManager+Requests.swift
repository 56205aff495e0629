public import CoreBluetooth

/// Requests of centrals, and values sent to them.
extension EmulatedCBPeripheralManager {
    /// Answers a read or a write, within the callback.
    ///
    /// If the delegate does not answer within the callback, the manager does: with the stored value, or by storing the
    /// written value. A later answer is logged and ignored, unless Apple's rule applies.
    ///
    /// - Parameters:
    ///   - request: The request of the callback, or any of several.
    ///   - result: `.success`, or the error that the central gets.
    public func respond(to request: EmulatedCBATTRequest, withResult result: CBATTError.Code) {
        guard request.markAnswered(result) else {
            return logMisuse("a request is answered twice, or after its callback")
        }
        guard let core else { return }
        if request.core.value == nil, result == .success {
            return answerRead(request, core)
        }
        core.respond(to: request.core, withResult: result)
    }

    private func answerRead(_ request: EmulatedCBATTRequest, _ core: CBPeripheralManager) {
        let stored = request.characteristic.value ?? Data()
        if let value = request.value {
            request.core.value = value
        } else if world.configuration.followsApple {
            request.core.value = Data()
        } else if request.offset > stored.count {
            return core.respond(to: request.core, withResult: .invalidOffset)
        } else {
            request.core.value = Data(stored.dropFirst(request.offset))
        }
        core.respond(to: request.core, withResult: .success)
    }

    /// Answers a request for which the delegate has no method.
    func answer(unheard request: EmulatedCBATTRequest) {
        guard world.configuration.followsApple else { return }
        respond(to: request, withResult: .requestNotSupported)
    }

    // MARK: Callbacks

    func didReceiveRead(_ core: CBATTRequest) {
        guard let request = request(for: core) else { return refuse(core) }
        if let delegate {
            delegate.peripheralManager(self, didReceiveRead: request)
        } else {
            answer(unheard: request)
        }
        guard !world.configuration.followsApple, request.result == nil else { return }
        respond(to: request, withResult: .success)
    }

    func didReceiveWrite(_ cores: [CBATTRequest]) {
        guard let first = cores.first else { return }
        let requests = cores.compactMap(request)
        guard requests.count == cores.count, let head = requests.first else { return refuse(first) }
        if let delegate {
            delegate.peripheralManager(self, didReceiveWrite: requests)
        } else {
            answer(unheard: head)
        }
        guard !world.configuration.followsApple else { return }
        let result = requests.lazy.compactMap(\.result).first
        if result == nil || result == .success { store(requests) }
        if result == nil { respond(to: head, withResult: .success) }
        // A later answer to any part is refused.
        for request in requests { _ = request.markAnswered(result ?? .success) }
    }

    private func request(for core: CBATTRequest) -> EmulatedCBATTRequest? {
        guard let characteristic = fields.withLock({ $0.published.characteristic(of: core.characteristic) }) else {
            return nil
        }
        return EmulatedCBATTRequest(core, central(for: core.central), characteristic)
    }

    /// Refuses a request, because the characteristic was withdrawn meanwhile.
    private func refuse(_ request: CBATTRequest) { core?.respond(to: request, withResult: .invalidHandle) }

    /// Stores written values; the parts of a long value are joined.
    private func store(_ requests: [EmulatedCBATTRequest]) {
        for request in requests {
            let (written, stored) = (request.value ?? Data(), request.characteristic.value ?? Data())
            request.characteristic.setValue(Data(stored.prefix(request.offset)) + written)
        }
    }

    // MARK: Values

    /// Sends a notification or an indication.
    ///
    /// - Parameters:
    ///   - value: The value; cut to each central's `maximumUpdateValueLength`. It is stored, too, unless Apple's rule
    ///     applies.
    ///   - characteristic: A published characteristic.
    ///   - centrals: The subscribers to notify; nil for all.
    /// - Returns: Whether it was queued. After false nothing is sent; send it again after
    ///   `peripheralManagerIsReady(toUpdateSubscribers:)`.
    @discardableResult
    public func updateValue(
        _ value: Data, for characteristic: EmulatedCBMutableCharacteristic,
        onSubscribedCentrals centrals: [EmulatedCBCentral]?
    ) -> Bool {
        guard let core, let published = fields.withLock({ $0.published.core(of: characteristic) }) else {
            logMisuse("\(characteristic) is not published")
            return false
        }
        let queue = LinkTables.Queue.notifications(peripheral: identifier, characteristic: characteristic.uuid)
        guard world.hasRoom(queue) else { return false }
        let chosen = centrals.map { $0.compactMap(\.core) }
        guard core.updateValue(value, for: published, onSubscribedCentrals: chosen) else { return false }
        world.occupyForAWhile(queue)
        if !world.configuration.followsApple { characteristic.setValue(value) }
        return true
    }

    /// Requests a connection interval.
    public func setDesiredConnectionLatency(
        _ latency: CBPeripheralManagerConnectionLatency, for central: EmulatedCBCentral
    ) {
        guard let connected = central.core else { return logMisuse("\(central) is not connected") }
        core?.setDesiredConnectionLatency(latency, for: connected)
    }

    func reportReady() { delegate?.peripheralManagerIsReady(toUpdateSubscribers: self) }

    /// Reports readiness, from any thread.
    func reportReadyLater() { world.emulator?.call(on: queue) { self.reportReady() } }

    // MARK: Centrals

    /// Returns the one object of a connected central.
    func central(for core: CBCentral) -> EmulatedCBCentral {
        if let known = fields.withLock({ $0.centrals[core.identifier] }), known.core === core { return known }
        let identifier = world.central(knownAs: core.identifier, onHost: place.host.name)?.identifier
        let new = EmulatedCBCentral(identifier: identifier ?? core.identifier, core, in: world)
        fields.withLock { $0.centrals[core.identifier] = new }
        return new
    }

    /// Returns the central with an identifier, connected or not.
    func central(_ identifier: UUID) -> EmulatedCBCentral {
        fields.withLock { $0.centrals.values.first { $0.identifier == identifier } }
            ?? EmulatedCBCentral(identifier: identifier, nil, in: world)
    }
}
