public import CoreBluetooth

/// The commands of peripheral managers, by identifier, and access to their databases.
extension EmulatorBus {
    // MARK: Advertising and values

    /// Advertises; see ``EmulatedCBPeripheralManager/startAdvertising(_:)``.
    public func startAdvertising(peripheralIdentifier: UUID, data: [String: Any]?) {
        world.peripheral(peripheralIdentifier)?.startAdvertising(data)
    }

    /// Ends the advertising of a peripheral manager.
    public func stopAdvertising(peripheralIdentifier: UUID) {
        world.peripheral(peripheralIdentifier)?.stopAdvertising()
    }

    /// Sends a notification.
    ///
    /// - Parameters:
    ///   - peripheralIdentifier: The peripheral manager.
    ///   - value: The value.
    ///   - characteristic: A characteristic of the manager.
    ///   - centrals: The identifiers of the subscribers to notify; nil for all.
    /// - Returns: Whether it was queued.
    public func sendNotification(
        from peripheralIdentifier: UUID, value: Data, for characteristic: EmulatedCBCharacteristic, to centrals: [UUID]?
    ) async -> Bool {
        guard let peripheral = world.peripheral(peripheralIdentifier),
            let served = characteristic as? EmulatedCBMutableCharacteristic
        else { return false }
        return peripheral.updateValue(
            value, for: served, onSubscribedCentrals: centrals.map { $0.map { peripheral.central($0) } })
    }

    /// Returns the present signal strength of a peripheral manager, in dBm; 127 if the manager is unknown.
    public func readRSSI(peripheralIdentifier: UUID) async -> Int {
        world.peripheral(peripheralIdentifier)?.measureRSSI() ?? 127
    }

    // MARK: Discovery

    /// Returns the services of a peripheral manager, its own objects, after the time of a discovery.
    ///
    /// - Throws: `CBError.unknownDevice` for an unknown manager; `CancellationError` when the task is cancelled.
    public func discoverServices(
        peripheralIdentifier: UUID, serviceUUIDs: [CBUUID]?
    ) async throws -> [EmulatedCBService] {
        let peripheral = try await peripheral(peripheralIdentifier) { $0.serviceDiscoveryDelay }
        return peripheral.publishedServices.filter { $0.isPrimary && serviceUUIDs.allow($0.uuid) }
    }

    /// Returns the characteristics of a service, after the time of a discovery.
    ///
    /// - Throws: The errors of `discoverServices`.
    public func discoverCharacteristics(
        peripheralIdentifier: UUID, characteristicUUIDs: [CBUUID]?, for service: EmulatedCBService
    ) async throws -> [EmulatedCBCharacteristic] {
        _ = try await peripheral(peripheralIdentifier) { $0.characteristicDiscoveryDelay }
        return (service.characteristics ?? []).filter { characteristicUUIDs.allow($0.uuid) }
    }

    /// Returns the descriptors of a characteristic, after the time of a discovery.
    ///
    /// - Throws: The errors of `discoverServices`.
    public func discoverDescriptors(
        peripheralIdentifier: UUID, for characteristic: EmulatedCBCharacteristic
    ) async throws -> [EmulatedCBDescriptor] {
        _ = try await peripheral(peripheralIdentifier) { $0.descriptorDiscoveryDelay }
        return characteristic.descriptors ?? []
    }

    private func peripheral(
        _ identifier: UUID, after delay: (EmulatorConfiguration) -> TimeInterval
    ) async throws -> EmulatedCBPeripheralManager {
        let world = world
        guard let peripheral = world.peripheral(identifier) else { throw CBError(.unknownDevice) }
        try await world.emulator?.clock.sleep(for: .time(delay(world.configuration)))
        return peripheral
    }

    // MARK: Channels

    /// Publishes an L2CAP channel.
    ///
    /// - Returns: The number of the channel.
    /// - Throws: `CBError.unknownDevice` for an unknown manager; `CBError.connectionFailed` if channels are not
    ///   supported.
    public func publishL2CAPChannel(peripheralIdentifier: UUID, encryptionRequired: Bool) async throws -> CBL2CAPPSM {
        guard let peripheral = world.peripheral(peripheralIdentifier) else { throw CBError(.unknownDevice) }
        return try await withCheckedThrowingContinuation { continuation in
            peripheral.publishChannel(withEncryption: encryptionRequired) { continuation.resume(with: $0) }
        }
    }

    /// Withdraws an L2CAP channel, if it is published.
    public func unpublishL2CAPChannel(peripheralIdentifier: UUID, psm: CBL2CAPPSM) {
        world.peripheral(peripheralIdentifier)?.unpublishChannel(psm) { result in
            if case .failure(let error) = result { logWarning("channel \(psm) is not withdrawn: \(error)") }
        }
    }
}

extension [CBUUID]? {
    /// Returns whether a filter accepts a type; nil and an empty filter accept all.
    fileprivate func allow(_ uuid: CBUUID) -> Bool {
        guard let self, !self.isEmpty else { return true }
        return self.contains(uuid)
    }
}
