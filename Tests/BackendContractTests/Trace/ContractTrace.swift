import BluetoothLocking
import CoreBluetooth
import Synchronization

/// Every delegate callback of a manager and its peripherals, as a line each: which, with which values and errors.
///
/// Three kinds of callbacks have a list of their own, since their number is the radio's business: sightings,
/// states of the adapter, and names.
final class ContractTrace: NSObject, Sendable {
    /// One `didDiscover`.
    struct Sighting: Sendable {
        var identifier: UUID
        var name: String?
        var fields: [String: String]
        var rssi: Int
    }

    private struct State: Sendable {
        var lines: [String] = []
        var sightings: [Sighting] = []
        var states: [CBManagerState] = []
        var names: [String?] = []
        var waiters: [UInt64: @Sendable () -> Void] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Lock(State())

    var lines: [String] { state.withLock { $0.lines } }
    var sightings: [Sighting] { state.withLock { $0.sightings } }
    var states: [CBManagerState] { state.withLock { $0.states } }
    var names: [String?] { state.withLock { $0.names } }

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

    private func record(_ line: String, _ error: (any Error)?) {
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
        let new = central.state
        change { $0.states.append(new) }
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
        record("didOpen \(channel == nil ? "nil" : "channel")", error)
    }
}

extension CBUUID {
    /// The suite's own UUIDs without their common tail.
    var short: String { uuidString.hasPrefix("C0DE") ? String(uuidString.prefix(8)) : uuidString }
}
