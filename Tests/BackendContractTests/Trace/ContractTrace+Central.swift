import CoreBluetooth

extension ContractTrace: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        let new = central.state
        change { $0.states.append(new) }
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        for peripheral in peripherals { peripheral.delegate = self }
        let states = peripherals.map { ($0.name ?? "nil", $0.state) }
        let retained = peripherals.map(Carried.init)
        record(
            .willRestore(
                Dictionary(states) { $1 },
                scanning: Self.attributes(dict[CBCentralManagerRestoredStateScanServicesKey]) ?? [])
        ) { $0.restoredPeripherals = retained }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData data: [String: Any],
        rssi RSSI: NSNumber
    ) {
        // A cast, as in apps.
        let sighting = Sighting(
            identifier: peripheral.identifier,
            advertisedName: data[CBAdvertisementDataLocalNameKey] as? String,
            services: Self.attributes(data[CBAdvertisementDataServiceUUIDsKey]).map(Set.init),
            manufacturerData: data[CBAdvertisementDataManufacturerDataKey] as? Data,
            serviceData: (data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]).map { all in
                Dictionary(uniqueKeysWithValues: all.map { (ContractAttribute($0.key), $0.value) })
            },
            txPower: (data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue,
            isConnectable: data[CBAdvertisementDataIsConnectable] as? Bool,
            rssi: RSSI.intValue)
        change { $0.sightings.append(sighting) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        record(.didConnect(peripheral.state))
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        record(.didFailToConnect(peripheral.state), error)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        record(.didDisconnect(peripheral.state, isReconnecting: isReconnecting), error)
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        record(.connectionEvent(event))
    }

    private static func attributes(_ uuids: Any?) -> [ContractAttribute]? {
        (uuids as? [CBUUID])?.map { ContractAttribute($0) }
    }
}

extension ContractTrace: CBPeripheralDelegate {
    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        let name = peripheral.name
        change { $0.names.append(name) }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { change { $0.readyCount += 1 } }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        record(.didModifyServices(invalidatedServices.map(\.contract)))
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        record(.didReadRSSI(isInRange: (-127...20).contains(RSSI.intValue)), error)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        record(.didDiscoverServices((peripheral.services ?? []).map(\.contract)), error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        record(
            .didDiscoverIncludedServices(service.contract, (service.includedServices ?? []).map(\.contract)), error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        record(.didDiscoverCharacteristics(service.contract, (service.characteristics ?? []).map(\.contract)), error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record(
            .didDiscoverDescriptors(characteristic.contract, (characteristic.descriptors ?? []).map(\.contract)),
            error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record(.didUpdateValue(characteristic.contract, characteristic.value), error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record(.didWriteValue(characteristic.contract), error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        record(.didUpdateNotificationState(characteristic.contract, characteristic.isNotifying), error)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        let value: ContractEvent.DescriptorValue? =
            switch descriptor.value {
            case let text as String: .text(text)
            case let data as Data: .data(data)
            case let number as NSNumber: .number(number.intValue)
            default: nil
            }
        record(.didUpdateDescriptor(descriptor.contract, value), error)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        record(.didWriteDescriptor(descriptor.contract), error)
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        record(channel == nil ? .none : .toPeripheral, channel, error)
    }
}

extension CBAttribute {
    /// The name of the attribute in the suite.
    var contract: ContractAttribute { ContractAttribute(uuid) }
}
