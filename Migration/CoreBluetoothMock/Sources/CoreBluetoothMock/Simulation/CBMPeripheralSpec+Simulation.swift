import BluetoothEmulator
import CoreBluetooth

// The controls of a simulated peripheral. Without a simulated device, only the spec changes.
extension CBMPeripheralSpec {
    /// The devices that a call is for: that of the task's world, otherwise those of all worlds that have the spec.
    private var simulatedDevices: [SpecDevice] {
        let all = fields.withLock { $0.devices }.compactMap(\.object)
        guard all.count > 1, let selected = Emulator.selected else { return all }
        let own = all.filter { $0.world?.emulator === selected }
        return own.isEmpty ? all : own
    }

    /// Connects another app of the host to the peripheral at once; does nothing if it is out of range, or accepts no
    /// connections.
    public func simulateConnection() {
        let isLinked = fields.withLock { fields in
            guard fields.connection != nil, fields.proximity.proximity != .outOfRange else { return false }
            fields.isUsedByOtherApp = true
            fields.wasConnected = true
            fields.isKnown = true
            return true
        }
        guard isLinked else { return }
        for device in simulatedDevices {
            device.remember()
            device.linkOtherApp()
        }
    }

    /// Ends all links of all apps, with the next connection event.
    ///
    /// - Parameter error: The error that the apps receive; with `CBMError(.connectionTimeout)`, the peripheral falls
    ///   silent, and they detect it after the supervision timeout.
    public func simulateDisconnection(withError error: any Error = CBMError(.peripheralDisconnected)) {
        guard isConnected else { return }
        fields.withLock { $0.dropLinks() }
        simulatedDevices.forEach { $0.disconnect(with: error) }
    }

    /// Restarts the peripheral: its delegate's `reset()` is called, and its links are lost.
    ///
    /// Apps receive `CBMError(.connectionTimeout)` after the supervision timeout.
    public func simulateReset() {
        let devices = simulatedDevices
        fields.withLock { $0.dropLinks() }
        let delegate = connectionDelegate
        if let world = devices.first?.world {
            world.hooks.run { world.perform { delegate?.reset() } }
        } else {
            delegate?.reset()
        }
        devices.forEach { $0.reset() }
    }

    /// Changes the proximity of the peripheral; out of range, its links are lost after the supervision timeout.
    public func simulateProximityChange(_ proximity: CBMProximity) {
        fields.withLock { $0.proximity = proximity }
        for device in simulatedDevices { device.device?.setProximity(proximity.proximity) }
    }

    /// Changes the services; connected apps receive `didModifyServices`, and `peripheralDidUpdateName` for a new name.
    ///
    /// - Parameters:
    ///   - newName: The new GAP Device Name; nil leaves it.
    ///   - newServices: All services; present objects stay, with the apps' knowledge of them.
    public func simulateServiceChange(newName: String?, newServices: [CBMServiceMock]) {
        let isChanged = fields.withLock { fields in
            guard fields.connection != nil else { return false }
            fields.connection?.services = newServices
            if let newName { fields.name = newName }
            return true
        }
        guard isChanged else { return }
        simulatedDevices.forEach { $0.updateServices(newServices, name: newName) }
    }

    /// Changes the value of a characteristic, of which subscribers are notified one connection interval later.
    ///
    /// A value that does not fit into a packet is cut. Ignored with a log line for a characteristic that does not
    /// belong to the peripheral.
    public func simulateValueUpdate(_ data: Data, for characteristic: CBMCharacteristicMock) {
        let (services, devices) = fields.withLock { ($0.connection?.services, $0.devices) }
        guard services?.contains(characteristic) == true else {
            return log.warning("the value of \(characteristic) is ignored: the peripheral does not have it")
        }
        characteristic.value = data
        // Values change often, and most specs have one device: no array is created for it.
        if devices.count == 1 {
            devices[0].object?.notify(data, of: characteristic)
        } else {
            for device in simulatedDevices { device.notify(data, of: characteristic) }
        }
    }

    /// Replaces the advertising sets, whose delays count from now on; nil ends advertising.
    public func simulateAdvertisementChange(_ advertisement: [CBMAdvertisementConfig]?) {
        fields.withLock { $0.advertisement = advertisement }
        simulatedDevices.forEach { $0.advertise() }
    }

    /// Makes the peripheral known to the host, as if it had been seen: it can be retrieved.
    public func simulateCaching() {
        fields.withLock { $0.isKnown = true }
        simulatedDevices.forEach { $0.remember() }
    }

    /// Changes the address: to apps it is a new peripheral, which the host does not know; its links are lost after the
    /// supervision timeout.
    ///
    /// - Parameter newIdentifier: The identifier under which apps will know it.
    public func simulateMacChange(_ newIdentifier: UUID = UUID()) {
        fields.withLock { fields in
            fields.identifier = newIdentifier
            fields.isKnown = false
            fields.wasConnected = false
            fields.dropLinks()
        }
        for device in simulatedDevices {
            device.readd()
            device.world?.identify(device)
        }
    }
}

extension [CBMServiceMock] {
    /// Whether one of the services, or one that they include, has a characteristic.
    fileprivate func contains(_ characteristic: CBMCharacteristicMock) -> Bool {
        contains { service in
            (service.characteristics ?? []).contains { $0 === characteristic }
                || service.includedMocks.contains(characteristic)
        }
    }
}
