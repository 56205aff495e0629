import BluetoothSupport
import CoreBluetooth
import Synchronization

/// Every delegate callback of a manager and its peripherals, as a line each: which, with which values and errors.
///
/// Some kinds of callbacks have a list or a counter of their own, since their number is the radio's business: sightings,
/// states of the adapter, names, and readiness to send.
final class ContractTrace: NSObject, Sendable {
    /// One `didDiscover`.
    struct Sighting: Sendable {
        var identifier: UUID
        var name: String?
        var fields: [String: String]
        var rssi: Int
    }

    /// What a central asked and the app owes.
    enum Request: Sendable {
        case read(Carried<CBATTRequest>)
        case write([Carried<CBATTRequest>])
    }

    private struct State: Sendable {
        var lines: [String] = []
        var requests: [Request] = []
        var pairingRequests: [CBPairingRequest] = []
        var channels: [Carried<CBL2CAPChannel>] = []
        var psms: [CBL2CAPPSM] = []
        var restoredPeripherals: [Carried<CBPeripheral>] = []
        var restoredServices: [Carried<CBMutableService>] = []
        var sightings: [Sighting] = []
        var states: [CBManagerState] = []
        var names: [String?] = []
        var readyCount = 0
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Lock(State())

    var lines: [String] { state.withLock { $0.lines } }
    var sightings: [Sighting] { state.withLock { $0.sightings } }
    var states: [CBManagerState] { state.withLock { $0.states } }
    var names: [String?] { state.withLock { $0.names } }
    /// How often there was room to send again, or all had been sent.
    var readyCount: Int { state.withLock { $0.readyCount } }
    func noteReady() { change { $0.readyCount += 1 } }

    var pairingRequests: [CBPairingRequest] { state.withLock { $0.pairingRequests } }
    /// The channels that were opened; kept, since releasing them closes them.
    var channels: [Carried<CBL2CAPChannel>] { state.withLock { $0.channels } }
    func releaseChannels() {
        // Let go of outside the lock.
        let released = state.withLock { state in
            defer { state.channels = [] }
            return state.channels
        }
        withExtendedLifetime(released) {}
    }
    /// What was published.
    var psms: [CBL2CAPPSM] { state.withLock { $0.psms } }

    var restoredPeripherals: [CBPeripheral] { state.withLock { $0.restoredPeripherals }.map(\.object) }
    var restoredServices: [CBMutableService] { state.withLock { $0.restoredServices }.map(\.object) }

    /// Notes what was restored.
    func note(_ peripherals: [CBPeripheral], _ services: [CBMutableService], _ line: String) {
        let (peripherals, services) = (peripherals.map(Carried.init), services.map(Carried.init))
        change { state in
            state.restoredPeripherals = peripherals
            state.restoredServices = services
            state.lines.append(line)
        }
    }

    /// Takes the oldest request of a central.
    func takeRequest() -> Request? { state.withLock { $0.requests.isEmpty ? nil : $0.requests.removeFirst() } }

    func note(_ request: Request, _ line: String) {
        change { state in
            state.requests.append(request)
            state.lines.append(line)
        }
    }

    func note(_ request: CBPairingRequest, _ line: String) {
        change { state in
            state.pairingRequests.append(request)
            state.lines.append(line)
        }
    }

    func note(_ new: CBManagerState) { change { $0.states.append(new) } }

    /// Notes the answer to a publication.
    func note(psm: CBL2CAPPSM, _ line: String, _ error: (any Error)?) {
        let text = line + Self.text(error)
        change { state in
            state.psms.append(psm)
            state.lines.append(text)
        }
    }

    /// Notes what became of a channel.
    func note(_ channel: CBL2CAPChannel?, _ line: String, _ error: (any Error)?) {
        let text = line + Self.text(error)
        let kept = channel.map(Carried.init)
        change { state in
            if let kept { state.channels.append(kept) }
            state.lines.append(text)
        }
    }

    func clearSightings() { state.withLock { $0.sightings = [] } }

    /// Calls `body` after each callback, until ``stopWatching(_:)``.
    func watch(_ body: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = body
            return state.lastWaiter
        }
    }

    func stopWatching(_ number: UInt64) { state.withLock { $0.waiters[number] = nil } }

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter() }
    }

    func record(_ line: String, _ error: (any Error)?) {
        let text = line + Self.text(error)
        change { $0.lines.append(text) }
    }

    private static func text(_ error: (any Error)?) -> String {
        switch error {
        case nil: ""
        case let error as CBError: " ! CBError \(error.errorCode)"
        case let error as CBATTError: " ! CBATTError \(error.errorCode)"
        case let error?: " ! \(error)"
        }
    }
}

extension ContractTrace: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        note(central.state)
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let sighting = Sighting(
            identifier: peripheral.identifier, name: peripheral.name, fields: Self.fields(advertisementData),
            rssi: RSSI.intValue)
        change { $0.sightings.append(sighting) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        record("didConnect \(peripheral.state)", nil)
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        record("didFailToConnect \(peripheral.state)", error)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        record("didDisconnect \(peripheral.state)\(isReconnecting ? " reconnecting" : "")", error)
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        record("connectionEvent \(event == .peerConnected ? "connected" : "disconnected")", nil)
    }

    /// Advertisement fields as text; apps cast exactly so.
    private static func fields(_ data: [String: Any]) -> [String: String] {
        var fields: [String: String] = [:]
        fields["name"] = data[CBAdvertisementDataLocalNameKey] as? String
        fields["txPower"] = (data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber).map { "\($0)" }
        fields["services"] = (data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID])
            .map { $0.map(\.short).sorted().joined(separator: " ") }
        fields["manufacturer"] = (data[CBAdvertisementDataManufacturerDataKey] as? Data)?.hex
        fields["serviceData"] = (data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data])
            .map { $0.map { "\($0.key.short)=\($0.value.hex)" }.sorted().joined(separator: " ") }
        fields["connectable"] = (data[CBAdvertisementDataIsConnectable] as? Bool).map { "\($0)" }
        return fields
    }
}

extension ContractTrace: CBPeripheralDelegate {
    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        let name = peripheral.name
        change { $0.names.append(name) }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { noteReady() }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        record("didModifyServices \(invalidatedServices.map(\.uuid.short))", nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        let isPlausible = (-127...20).contains(RSSI.intValue)
        record("didReadRSSI \(error != nil ? "-" : isPlausible ? "dBm" : "\(RSSI)")", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        record("didDiscoverServices \((peripheral.services ?? []).map(\.uuid.short))", error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        record(
            "didDiscoverIncludedServices \(service.uuid.short) \((service.includedServices ?? []).map(\.uuid.short))",
            error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        record(
            "didDiscoverCharacteristics \(service.uuid.short) \((service.characteristics ?? []).map(\.uuid.short))",
            error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record(
            "didDiscoverDescriptors \(characteristic.uuid.short) "
                + "\((characteristic.descriptors ?? []).map(\.uuid.short))", error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record("didUpdateValue \(characteristic.uuid.short) \(characteristic.value?.hex ?? "nil")", error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record("didWriteValue \(characteristic.uuid.short)", error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        record("didUpdateNotificationState \(characteristic.uuid.short) \(characteristic.isNotifying)", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        let value: String =
            switch descriptor.value {
            case let text as String: "\"\(text)\""
            case let data as Data: data.hex
            case let number as NSNumber: "number \(number)"
            default: "nil"
            }
        record("didUpdateValue descriptor \(descriptor.uuid.short) \(value)", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        record("didWriteValue descriptor \(descriptor.uuid.short)", error)
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        note(channel, "didOpen \(channel == nil ? "nil" : "channel")", error)
    }
}

extension CBUUID {
    /// The suite's own UUIDs without their common tail.
    var short: String { uuidString.hasPrefix("C0DE") ? String(uuidString.prefix(8)) : uuidString }
}
