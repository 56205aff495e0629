public import CoreBluetooth

/// The bus's data about links: MTUs, queues, pairing.
extension EmulatorBus {
    // MARK: MTU

    /// Agrees to an ATT MTU: the smaller of the requested MTU and ``EmulatorConfiguration/maximumMTU``.
    ///
    /// If the managers are connected, the peripheral's links get it too, if it is larger than theirs: an MTU never
    /// becomes smaller.
    ///
    /// - Returns: The MTU in bytes.
    public func negotiateMTU(centralIdentifier: UUID, peripheralIdentifier: UUID, requestedMTU: Int) async -> Int {
        let world = world
        let agreed = world.configuration.agreedMTU(requestedMTU)
        let pair = LinkTables.Pair(central: centralIdentifier, peripheral: peripheralIdentifier)
        world.state.withLock { $0.links.negotiatedMTUs[pair] = agreed }
        if let peripheral = world.central(centralIdentifier)?.knownPeripheral(peripheralIdentifier),
            peripheral.state == .connected, agreed > peripheral.mtu
        {
            peripheral.server?.place.host.peripheral?.exchangeMTU(agreed)
        }
        return agreed
    }

    /// Returns the ATT MTU that two managers agreed to; that of a new link without an agreement.
    public func getMTU(centralIdentifier: UUID, peripheralIdentifier: UUID) -> Int {
        let world = world
        let pair = LinkTables.Pair(central: centralIdentifier, peripheral: peripheralIdentifier)
        return world.state.withLock { $0.links.negotiatedMTUs[pair] }
            ?? world.central(centralIdentifier)?.knownPeripheral(peripheralIdentifier)?.mtu
            ?? world.configuration.initialMTU
    }

    // MARK: Queues

    /// Returns whether a write without response would be accepted; always, unless
    /// ``EmulatorConfiguration/simulateBackpressure``.
    public func canSendWriteWithoutResponse(centralIdentifier: UUID, peripheralIdentifier: UUID) -> Bool {
        world.hasRoom(.writes(LinkTables.Pair(central: centralIdentifier, peripheral: peripheralIdentifier)))
    }

    /// Takes a place in the queue of a link, until it is dequeued; writes of peripherals take separate places.
    public func enqueueWriteWithoutResponse(centralIdentifier: UUID, peripheralIdentifier: UUID) {
        world.occupy(.writes(LinkTables.Pair(central: centralIdentifier, peripheral: peripheralIdentifier)))
    }

    /// Releases a place in the queue of a link after the processing delay; a full queue's peripheral becomes ready.
    public func dequeueWriteWithoutResponse(centralIdentifier: UUID, peripheralIdentifier: UUID) async {
        await release(.writes(LinkTables.Pair(central: centralIdentifier, peripheral: peripheralIdentifier)))
    }

    /// Returns whether a value of a characteristic would be accepted; always, unless
    /// ``EmulatorConfiguration/simulateBackpressure``.
    public func canSendNotification(peripheralIdentifier: UUID, characteristicUUID: CBUUID) -> Bool {
        world.hasRoom(.notifications(peripheral: peripheralIdentifier, characteristic: characteristicUUID))
    }

    /// Takes a place in the queue of a characteristic, until it is dequeued; values of managers take separate places.
    public func enqueueNotification(peripheralIdentifier: UUID, characteristicUUID: CBUUID) {
        world.occupy(.notifications(peripheral: peripheralIdentifier, characteristic: characteristicUUID))
    }

    /// Releases a place in the queue of a characteristic after the processing delay; a full queue's manager becomes
    /// ready.
    public func dequeueNotification(peripheralIdentifier: UUID, characteristicUUID: CBUUID) async {
        await release(.notifications(peripheral: peripheralIdentifier, characteristic: characteristicUUID))
    }

    private func release(_ queue: LinkTables.Queue) async {
        let world = world
        do {
            try await world.emulator?.clock.sleep(for: .time(world.configuration.backpressureProcessingDelay))
        } catch {
            // The caller was cancelled: the place is released all the same.
        }
        world.release(queue)
    }

    // MARK: Pairing

    /// Returns whether an access to a characteristic needs pairing: its permissions require it, and
    /// ``EmulatorConfiguration/requirePairing`` is true.
    public func requiresPairing(characteristic: EmulatedCBCharacteristic) -> Bool {
        let world = world
        guard world.configuration.requirePairing else { return false }
        let served =
            (characteristic as? EmulatedCBMutableCharacteristic)
            ?? characteristic.core.flatMap { found in
                characteristic.service?.peripheral?.serverCharacteristic(of: found)
            }
        return served.map { !$0.permissions.isDisjoint(with: [.readEncryptionRequired, .writeEncryptionRequired]) }
            ?? false
    }

    /// Returns whether two managers are paired.
    public func isPaired(centralIdentifier: UUID, peripheralIdentifier: UUID) -> Bool {
        world.isPaired(LinkTables.Pair(central: centralIdentifier, peripheral: peripheralIdentifier))
    }

    /// Pairs two managers.
    ///
    /// - Throws: `CBError.unknownDevice` for unknown managers; `CBATTError.insufficientAuthentication` if pairings
    ///   fail; `CancellationError` when the task is cancelled.
    public func pair(centralIdentifier: UUID, peripheralIdentifier: UUID) async throws {
        try await world.pair(LinkTables.Pair(central: centralIdentifier, peripheral: peripheralIdentifier))
    }
}
