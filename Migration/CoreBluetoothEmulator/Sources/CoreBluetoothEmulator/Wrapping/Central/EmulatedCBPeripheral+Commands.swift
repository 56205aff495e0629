public import CoreBluetooth

/// The commands of a peripheral.
extension EmulatedCBPeripheral {
    /// Reads the link's signal strength: `peripheral(_:didReadRSSI:error:)`.
    public func readRSSI() { request(.rssi, nil) { core.readRSSI() } }

    /// Finds services, all if nil or empty: `peripheral(_:didDiscoverServices:)`.
    public func discoverServices(_ serviceUUIDs: [CBUUID]?) {
        request(.services, nil) { core.discoverServices(serviceUUIDs) }
    }

    /// Finds included services, all if nil or empty: `peripheral(_:didDiscoverIncludedServicesFor:error:)`.
    public func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: EmulatedCBService) {
        withDiscovered(service) { [self] found in
            request(.included(ObjectIdentifier(found)), nil) {
                core.discoverIncludedServices(includedServiceUUIDs, for: found)
            }
        }
    }

    /// Finds characteristics, all if nil or empty: `peripheral(_:didDiscoverCharacteristicsFor:error:)`.
    public func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: EmulatedCBService) {
        withDiscovered(service) { [self] found in
            request(.characteristics(ObjectIdentifier(found)), nil) {
                core.discoverCharacteristics(characteristicUUIDs, for: found)
            }
        }
    }

    /// Finds all descriptors: `peripheral(_:didDiscoverDescriptorsFor:error:)`.
    public func discoverDescriptors(for characteristic: EmulatedCBCharacteristic) {
        withDiscovered(characteristic) { [self] found in
            request(.descriptors(ObjectIdentifier(found)), nil) { core.discoverDescriptors(for: found) }
        }
    }

    /// Reads a value: `peripheral(_:didUpdateValueFor:error:)`.
    public func readValue(for characteristic: EmulatedCBCharacteristic) { read(characteristic, nil) }

    /// Reads a descriptor: `peripheral(_:didUpdateValueFor:error:)`.
    public func readValue(for descriptor: EmulatedCBDescriptor) { read(descriptor, nil) }

    /// Writes a value.
    ///
    /// - Parameters:
    ///   - data: At most `maximumWriteValueLength(for:)` bytes; longer values with response are written in parts, up to
    ///     512.
    ///   - characteristic: The characteristic to write.
    ///   - type: With response: `peripheral(_:didWriteValueFor:error:)`. Without: no callback.
    public func writeValue(
        _ data: Data, for characteristic: EmulatedCBCharacteristic, type: CBCharacteristicWriteType
    ) {
        write(data, to: characteristic, type, nil)
    }

    /// Writes a descriptor: `peripheral(_:didWriteValueFor:error:)`.
    public func writeValue(_ data: Data, for descriptor: EmulatedCBDescriptor) { write(data, to: descriptor, nil) }

    /// Turns notifications or indications on or off: `peripheral(_:didUpdateNotificationStateFor:error:)`.
    public func setNotifyValue(_ enabled: Bool, for characteristic: EmulatedCBCharacteristic) {
        setNotifying(enabled, characteristic, nil)
    }

    /// Opens an L2CAP channel: `peripheral(_:didOpen:error:)`.
    ///
    /// - Parameter psm: The number under which the peripheral manager published it.
    public func openL2CAPChannel(_ psm: CBL2CAPPSM) { openChannel(psm, nil) }
}

/// The commands of the bus, with a completion in place of the delegate.
extension EmulatedCBPeripheral {
    func read(_ characteristic: EmulatedCBCharacteristic, _ completion: RequestLedger.Completion?) {
        withDiscovered(characteristic, completion) { [self] found in
            request(.read(ObjectIdentifier(found)), completion) { core.readValue(for: found) }
        }
    }

    func write(
        _ data: Data, to characteristic: EmulatedCBCharacteristic, _ type: CBCharacteristicWriteType,
        _ completion: RequestLedger.Completion?
    ) {
        withDiscovered(characteristic, completion) { [self] found in
            guard type == .withoutResponse else {
                return request(.write(ObjectIdentifier(found)), completion) {
                    core.writeValue(data, for: found, type: type)
                }
            }
            writeCommand(data, to: found)
            completion?(.done)
        }
    }

    /// Writes without response; a write to a full queue is dropped if Apple's rule applies, and sent otherwise.
    private func writeCommand(_ data: Data, to found: CBCharacteristic) {
        guard canSendWriteWithoutResponse || !world.configuration.followsApple else {
            return logMisuse("a write without response to \(found.uuid) is dropped: the queue is full")
        }
        if state == .connected { world.occupyForAWhile(.writes(link)) }
        core.writeValue(data, for: found, type: .withoutResponse)
    }

    func setNotifying(
        _ enabled: Bool, _ characteristic: EmulatedCBCharacteristic, _ completion: RequestLedger.Completion?
    ) {
        withDiscovered(characteristic, completion) { [self] found in
            request(.subscription(ObjectIdentifier(found)), completion) { core.setNotifyValue(enabled, for: found) }
        }
    }

    func openChannel(_ psm: CBL2CAPPSM, _ completion: RequestLedger.Completion?) {
        guard world.configuration.l2capSupported else {
            let error = CBError(.connectionFailed)
            if let completion { return completion(.failed(error)) }
            return callLater { $0.delegate?.peripheral($0, didOpen: nil, error: error) }
        }
        request(.channel, completion) { core.openL2CAPChannel(server?.backendPSM(of: psm) ?? psm) }
    }

    /// Sends a request, and records the receiver of its answer.
    func request(_ key: RequestLedger.Key, _ completion: RequestLedger.Completion?, _ send: () -> Void) {
        if isLinked {
            fields.withLock { $0.requests.append(key, completion) }
        } else if let completion {
            return completion(.failed(CBError(.notConnected)))
        }
        // CoreBluetooth logs the misuse without a link.
        send()
    }

    /// Calls back on the manager's queue.
    func callLater(after delay: TimeInterval = 0, _ body: @escaping (EmulatedCBPeripheral) -> Void) {
        guard let manager else { return }
        world.emulator?.call(on: manager.queue, after: delay) { body(self) }
    }
}
