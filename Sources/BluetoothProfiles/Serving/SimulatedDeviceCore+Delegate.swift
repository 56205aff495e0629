import BluetoothLocking
import CoreBluetooth
import Synchronization

extension SimulatedDeviceCore: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard withState({ $0.manager === peripheral }) else { return }
        stateChanged(peripheral.state)
    }

    // MARK: Publishing

    /// Publishes all services anew, one after the other.
    func publish() {
        let served = Unchecked(
            servers.map { server in (server.service, server.values.map { Self.served($0, in: server.service) }) })
        let manager: CBPeripheralManager? = withState { state in
            guard let manager = state.manager else { return nil }
            state.waiting = []
            state.served = served.value.flatMap(\.1)
            state.unpublished = served.value.map { uuid, values in
                let service = CBMutableService(type: uuid, primary: true)
                service.characteristics = values.map(\.object)
                return service
            }.reversed()
            return manager
        }
        guard let manager else { return }
        for (index, item) in served.value.flatMap(\.1).enumerated() {
            item.value.connect { [weak self] in self?.send($0, of: index) }
        }
        manager.stopAdvertising()
        manager.removeAllServices()
        publishNext()
    }

    private static func served(_ value: any ServedAttribute, in service: CBUUID) -> Served {
        var permissions: CBAttributePermissions = []
        if value.properties.contains(.read) {
            permissions.insert(value.requiresEncryption ? .readEncryptionRequired : .readable)
        }
        if !value.properties.isDisjoint(with: [.write, .writeWithoutResponse]) {
            permissions.insert(value.requiresEncryption ? .writeEncryptionRequired : .writeable)
        }
        // Without a value of its own each read is asked of the device.
        let object = CBMutableCharacteristic(
            type: value.uuid, properties: value.properties, value: nil, permissions: permissions)
        let descriptors = value.descriptors.sorted { $0.key.uuidString < $1.key.uuidString }.map { uuid, data in
            let isText = uuid.uuidString == CBUUIDCharacteristicUserDescriptionString
            return CBMutableDescriptor(type: uuid, value: isText ? String(decoding: data, as: UTF8.self) : data)
        }
        if !descriptors.isEmpty { object.descriptors = descriptors }
        return Served(object: object, value: value, service: service)
    }

    private func publishNext() {
        let (manager, next) = withState { ($0.manager, $0.unpublished.popLast()) }
        guard let manager else { return }
        if let next { return manager.add(next) }
        tell(.published(services: servers.map(\.service)))
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: advertised,
        ])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return fail(.serviceRefused(service.uuid, error)) }
        publishNext()
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error { return fail(.advertisingRefused(error)) }
        tell(.advertising(services: advertised))
        finishStart(.success(()))
    }

    // MARK: Subscriptions

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        guard let value = value(of: characteristic) else { return }
        timers.subscribed(central.identifier, to: value)
        tell(about: characteristic) {
            .subscribed(central: central.identifier, service: $0, characteristic: characteristic.uuid)
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        guard let value = value(of: characteristic) else { return }
        timers.unsubscribed(central.identifier, from: value)
        tell(about: characteristic) {
            .unsubscribed(central: central.identifier, service: $0, characteristic: characteristic.uuid)
        }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { sendWaiting() }

    // MARK: Requests

    private func value(of characteristic: CBCharacteristic) -> (any ServedAttribute)? {
        withState { state in state.served.first { $0.object === characteristic }?.value }
    }

    /// Tells an event of a characteristic; what was withdrawn meanwhile is no part of the device any more.
    func tell(about characteristic: CBCharacteristic, _ event: (CBUUID) -> SimulatedDevice.Event) {
        let service = withState { state in state.served.first { $0.object === characteristic }?.service }
        if let service { tell(event(service)) }
    }

    private static func code(_ error: any Error) -> CBATTError.Code { (error as? CBATTError)?.code ?? .unlikelyError }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        var result = CBATTError.Code.success
        do {
            guard let value = value(of: request.characteristic) else { throw CBATTError(.attributeNotFound) }
            let data = try value.read()
            guard request.offset <= data.count else { throw CBATTError(.invalidOffset) }
            request.value = data.dropFirst(request.offset)
        } catch {
            result = Self.code(error)
        }
        peripheral.respond(to: request, withResult: result)
        tell(about: request.characteristic) {
            .read(
                central: request.central.identifier, service: $0, characteristic: request.characteristic.uuid,
                value: result == .success ? request.value : nil, error: result == .success ? nil : result)
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        var result = CBATTError.Code.success
        withState { $0.isAnswering = true }
        do {
            for (value, data) in try joined(requests) { try value.write(data) }
        } catch {
            result = Self.code(error)
        }
        peripheral.respond(to: first, withResult: result)
        for request in requests {
            tell(about: request.characteristic) {
                .wrote(
                    central: request.central.identifier, service: $0, characteristic: request.characteristic.uuid,
                    value: request.value ?? Data(), error: result == .success ? nil : result)
            }
        }
        withState { $0.isAnswering = false }
        sendWaiting()
    }

    /// The whole values that the parts of a write make, by characteristic.
    private func joined(_ requests: [CBATTRequest]) throws -> [(any ServedAttribute, Data)] {
        var values: [(any ServedAttribute, Data)] = []
        for request in requests {
            guard let value = value(of: request.characteristic) else { throw CBATTError(.attributeNotFound) }
            let index = values.firstIndex { $0.0 === value }
            let before = try index.map { values[$0].1 } ?? (request.offset == 0 ? Data() : value.read())
            guard request.offset <= before.count else { throw CBATTError(.invalidOffset) }
            let data = Data(before.prefix(request.offset)) + (request.value ?? Data())
            if let index { values[index].1 = data } else { values.append((value, data)) }
        }
        return values
    }
}
