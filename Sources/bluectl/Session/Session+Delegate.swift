import CoreBluetoothPackage

extension Session: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) { stateChanged() }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        onHeard?(peripheral)
        onDiscovery?(peripheral, DeviceRecord(peripheral, advertisementData: advertisementData, rssi: RSSI))
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { answer(.connection) }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        let reason = error.map { ": " + ErrorText.of($0) } ?? ""
        answer(.connection, error: Failure(.failed, "cannot connect" + reason))
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        if isAwaiting(.disconnection) { return answer(.disconnection) }
        let reason = error.map { ": " + ErrorText.of($0) } ?? ""
        let failure = Failure(.failed, "the device disconnected" + reason)
        // In a shell other devices may be connected too.
        guard steps.isWaiting, peripheral === self.peripheral else {
            return onDisconnection?(peripheral, failure) ?? ()
        }
        fail(failure)
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        onConnectionEvent?(peripheral, event)
    }
}

extension Session: @preconcurrency CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        answer(.services, error: error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        answer(.includedServices(ObjectIdentifier(service)), error: error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        answer(.characteristics(ObjectIdentifier(service)), error: error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        answer(.descriptors(ObjectIdentifier(characteristic)), error: error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        let step = Step.value(ObjectIdentifier(characteristic))
        if isAwaiting(step) { return answer(step, error: error) }
        guard error == nil, let value = characteristic.value else { return }
        onNotification?(characteristic, value)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?
    ) {
        answer(.descriptorValue(ObjectIdentifier(descriptor)), error: error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        answer(.written(ObjectIdentifier(characteristic)), error: error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        answer(.notificationState(ObjectIdentifier(characteristic)), error: error)
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        // For a write without response, that there is an answer is what counts: not every radio can read it.
        lastRSSI = error == nil ? RSSI.intValue : nil
        answer(.rssi)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        answer(.descriptorWritten(ObjectIdentifier(descriptor)), error: error)
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        openedChannel = channel
        answer(.channelOpen, error: error)
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { answer(.readyToWrite) }
}
