public import CoreBluetooth

/// L2CAP channels.
extension EmulatedCBPeripheralManager {
    /// Listens for L2CAP channels: `peripheralManager(_:didPublishL2CAPChannel:error:)`.
    ///
    /// Fails with `CBError.connectionFailed` unless ``EmulatorConfiguration/l2capSupported``, and with `.outOfSpace` if
    /// all numbers of ``EmulatorConfiguration/l2capPSMRange`` are taken.
    ///
    /// - Parameter encryptionRequired: Whether centrals have to pair first; applies while
    ///   ``EmulatorConfiguration/requirePairing``.
    public func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        publishChannel(withEncryption: encryptionRequired, nil)
    }

    /// Stops listening: `peripheralManager(_:didUnpublishL2CAPChannel:error:)`.
    public func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) { unpublishChannel(PSM, nil) }

    /// - Parameter completion: The receiver of the answer; nil for the delegate.
    func publishChannel(withEncryption isEncrypted: Bool, _ completion: ChannelNumbers.Completion?) {
        start.perform { [weak self] in
            guard let self else { completion?(.failure(CBError(.operationCancelled))); return }
            publishWhenOn(withEncryption: isEncrypted, completion)
        }
    }

    private func publishWhenOn(withEncryption isEncrypted: Bool, _ completion: ChannelNumbers.Completion?) {
        let configuration = world.configuration
        guard configuration.l2capSupported else { return fail(CBError(.connectionFailed), completion) }
        guard let core, core.state == .poweredOn else {
            logMisuse("\(self) is not powered on")
            completion?(.failure(CBError(.operationNotSupported)))
            return
        }
        fields.withLock { $0.channels.publications.append(completion) }
        core.publishL2CAPChannel(withEncryption: isEncrypted && configuration.requirePairing)
    }

    private func fail(_ error: CBError, _ completion: ChannelNumbers.Completion?) {
        if let completion { return completion(.failure(error)) }
        world.emulator?.call(on: queue) { [weak self] in
            guard let self else { return }
            delegate?.peripheralManager(self, didPublishL2CAPChannel: 0, error: error)
        }
    }

    func unpublishChannel(_ number: CBL2CAPPSM, _ completion: ChannelNumbers.Completion?) {
        guard let core, core.state == .poweredOn else {
            completion?(.failure(CBError(.operationNotSupported)))
            return
        }
        fields.withLock { $0.channels.withdrawals.append(completion) }
        core.unpublishL2CAPChannel(backendPSM(of: number) ?? number)
    }

    /// Returns the emulator's number for a published one.
    func backendPSM(of number: CBL2CAPPSM) -> CBL2CAPPSM? {
        fields.withLock { $0.channels.backendNumber(of: number) }
    }

    /// Returns the published number for one of the emulator's.
    func publishedPSM(of backendNumber: CBL2CAPPSM) -> CBL2CAPPSM? {
        fields.withLock { $0.channels.number(ofBackend: backendNumber) }
    }

    /// Ends pending commands without an answer and withdraws all channels, because the adapter is off.
    func failChannelCommands() {
        let waiting = fields.withLock { fields in
            defer { fields.channels = ChannelNumbers() }
            return fields.channels.publications + fields.channels.withdrawals
        }
        for completion in waiting { completion?(.failure(CBError(.operationCancelled))) }
    }

    // MARK: Callbacks

    func didPublish(_ backendNumber: CBL2CAPPSM, _ error: (any Error)?) {
        let range = world.configuration.l2capPSMRange
        let (completion, number) = fields.withLock { fields in
            let completion = fields.channels.publications.isEmpty ? nil : fields.channels.publications.removeFirst()
            let number = error == nil ? fields.channels.publish(backendNumber: backendNumber, within: range) : nil
            return (completion, number)
        }
        if error == nil, number == nil {
            // The answer to this is not for a delegate.
            fields.withLock { $0.channels.withdrawals.append({ _ in }) }
            core?.unpublishL2CAPChannel(backendNumber)
        }
        let failure = number == nil ? error ?? CBError(.outOfSpace) : nil
        if let completion { return completion(failure.map { .failure($0) } ?? .success(number ?? 0)) }
        delegate?.peripheralManager(self, didPublishL2CAPChannel: number ?? 0, error: failure)
    }

    func didUnpublish(_ backendNumber: CBL2CAPPSM, _ error: (any Error)?) {
        let (completion, number) = fields.withLock { fields in
            let completion = fields.channels.withdrawals.isEmpty ? nil : fields.channels.withdrawals.removeFirst()
            let number = fields.channels.number(ofBackend: backendNumber) ?? backendNumber
            if error == nil { fields.channels.withdraw(number) }
            return (completion, number)
        }
        if let completion { return completion(error.map { .failure($0) } ?? .success(number)) }
        delegate?.peripheralManager(self, didUnpublishL2CAPChannel: number, error: error)
    }

    func didOpen(_ channel: CBL2CAPChannel?, _ error: (any Error)?) {
        let opened = channel.flatMap { channel in
            (channel.peer as? CBCentral).map { peer in
                EmulatedCBL2CAPChannel(
                    channel, to: central(for: peer), psm: publishedPSM(of: channel.psm) ?? channel.psm, in: world)
            }
        }
        delegate?.peripheralManager(self, didOpen: opened, error: error)
    }
}
