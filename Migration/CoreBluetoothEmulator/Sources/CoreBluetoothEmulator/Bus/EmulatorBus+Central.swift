public import CoreBluetooth

/// The commands of central managers, by identifier, for code without their objects.
///
/// They have the same effects as those of the managers; answers return here, and not to the delegates of peripherals.
extension EmulatorBus {
    // MARK: Scanning and connecting

    /// Scans; see ``EmulatedCBCentralManager/scanForPeripherals(withServices:options:)``.
    public func startScanning(centralIdentifier: UUID, services: [CBUUID]?, options: [String: Any]?) {
        world.central(centralIdentifier)?.scanForPeripherals(withServices: services, options: options)
    }

    /// Ends the scan of a central manager.
    public func stopScanning(centralIdentifier: UUID) { world.central(centralIdentifier)?.stopScan() }

    /// Connects, and returns when the link is up; never times out.
    ///
    /// - Throws: `CBError.unknownDevice` for unknown managers; `CBError.operationNotSupported` while the adapter is
    ///   off; the error of a connect that fails or is cancelled.
    public func connect(centralIdentifier: UUID, peripheralIdentifier: UUID) async throws {
        let (central, peripheral) = try await ends(centralIdentifier, peripheralIdentifier)
        guard central.state == .poweredOn else { throw CBError(.operationNotSupported) }
        guard peripheral.state != .connected else { return }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            peripheral.whenConnected { continuation.resume(with: $0) }
            central.connect(peripheral)
        }
    }

    /// Disconnects, and returns when the link is down.
    public func disconnect(centralIdentifier: UUID, peripheralIdentifier: UUID) async {
        guard let central = world.central(centralIdentifier),
            let peripheral = central.knownPeripheral(peripheralIdentifier), peripheral.state != .disconnected
        else { return }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            peripheral.whenDisconnected { continuation.resume() }
            central.cancelPeripheralConnection(peripheral)
        }
    }

    /// Registers for connection events; see ``EmulatedCBCentralManager/registerForConnectionEvents(options:)``.
    public func registerForConnectionEvents(
        centralIdentifier: UUID, options: [CBConnectionEventMatchingOption: Any]?
    ) {
        world.central(centralIdentifier)?.registerForConnectionEvents(options: options)
    }

    // MARK: Values

    /// Reads a characteristic of a connected peripheral: one that was discovered, or its manager's.
    ///
    /// - Throws: `CBError.notConnected`, or the error of the read.
    public func readValue(
        peripheralIdentifier: UUID, for characteristic: EmulatedCBCharacteristic, centralIdentifier: UUID
    ) async throws -> Data {
        let peripheral = try connected(centralIdentifier, peripheralIdentifier)
        try await answer { peripheral.read(characteristic, $0) }
        return peripheral.object(of: characteristic)?.value ?? Data()
    }

    /// Reads a descriptor of a connected peripheral.
    ///
    /// - Throws: `CBError.notConnected`, or the error of the read.
    public nonisolated func readValue(
        peripheralIdentifier: UUID, for descriptor: EmulatedCBDescriptor, centralIdentifier: UUID
    ) async throws -> Any {
        let peripheral = try connected(centralIdentifier, peripheralIdentifier)
        try await answer { peripheral.read(descriptor, $0) }
        return (descriptor.server ?? descriptor).value ?? Data()
    }

    /// Writes a characteristic of a connected peripheral.
    ///
    /// - Throws: `CBError.notConnected`, or the error of the write.
    public func writeValue(
        peripheralIdentifier: UUID, data: Data, for characteristic: EmulatedCBCharacteristic,
        type: CBCharacteristicWriteType, centralIdentifier: UUID
    ) async throws {
        let peripheral = try connected(centralIdentifier, peripheralIdentifier)
        try await answer { peripheral.write(data, to: characteristic, type, $0) }
    }

    /// Writes a descriptor of a connected peripheral.
    ///
    /// - Throws: `CBError.notConnected`, or the error of the write.
    public func writeValue(
        peripheralIdentifier: UUID, data: Data, for descriptor: EmulatedCBDescriptor, centralIdentifier: UUID
    ) async throws {
        let peripheral = try connected(centralIdentifier, peripheralIdentifier)
        try await answer { peripheral.write(data, to: descriptor, $0) }
    }

    /// Turns notifications of a connected peripheral on or off.
    ///
    /// - Throws: `CBError.notConnected`, or the error of the subscription.
    public func setNotifyValue(
        peripheralIdentifier: UUID, enabled: Bool, for characteristic: EmulatedCBCharacteristic, centralIdentifier: UUID
    ) async throws {
        let peripheral = try connected(centralIdentifier, peripheralIdentifier)
        try await answer { peripheral.setNotifying(enabled, characteristic, $0) }
    }

    /// Opens an L2CAP channel to a connected peripheral.
    ///
    /// - Throws: `CBError.notConnected`, or the error of the opening.
    public func openL2CAPChannel(
        centralIdentifier: UUID, peripheralIdentifier: UUID, psm: CBL2CAPPSM
    ) async throws -> EmulatedCBL2CAPChannel {
        let peripheral = try connected(centralIdentifier, peripheralIdentifier)
        guard case .channel(let channel) = try await answer({ peripheral.openChannel(psm, $0) }) else {
            throw CBError(.connectionFailed)
        }
        return channel
    }

    /// Closes an L2CAP channel of either side, if it is open.
    public func closeL2CAPChannel(channelIdentifier: UUID) {
        world.state.withLock { $0.channels.removeValue(forKey: channelIdentifier)?.channel }?.close()
    }

    // MARK: Answers

    private func ends(
        _ central: UUID, _ peripheral: UUID
    ) async throws -> (EmulatedCBCentralManager, EmulatedCBPeripheral) {
        let world = world
        guard
            let proxy = await getPeripheralProxy(peripheralIdentifier: peripheral, centralIdentifier: central),
            let manager = world.central(central)
        else { throw CBError(.unknownDevice) }
        return (manager, proxy)
    }

    private nonisolated func connected(_ central: UUID, _ peripheral: UUID) throws -> EmulatedCBPeripheral {
        guard let proxy = world.central(central)?.knownPeripheral(peripheral), proxy.state == .connected else {
            throw CBError(.notConnected)
        }
        return proxy
    }

    /// Sends a request and waits for its answer.
    @discardableResult
    private nonisolated func answer(
        _ send: (@escaping RequestLedger.Completion) -> Void
    ) async throws -> RequestLedger.Outcome {
        try await withCheckedThrowingContinuation { continuation in
            send { outcome in
                if case .failed(let error) = outcome {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: outcome)
                }
            }
        }
    }
}
