import CoreBluetooth
import CoreBluetoothEmulator

/// An app of a client in Swift 6 mode: one object as all delegates, on the main actor.
@MainActor
final class Client: NSObject {
    var log: [String] = []
    var peripheral: EmulatedCBPeripheral?
    var channel: EmulatedCBL2CAPChannel?
    var psm: CBL2CAPPSM = 0

    func record(_ name: String) { log.append(name) }
}

extension Client: @preconcurrency EmulatedCBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: EmulatedCBCentralManager) {
        record("state")
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "1234")]) }
    }

    func centralManager(_ central: EmulatedCBCentralManager, willRestoreState dict: [String: Any]) { record("restore") }

    func centralManager(
        _ central: EmulatedCBCentralManager, didDiscover peripheral: EmulatedCBPeripheral,
        advertisementData: [String: Any], rssi RSSI: NSNumber
    ) {
        record("discover")
        self.peripheral = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: EmulatedCBCentralManager, didConnect peripheral: EmulatedCBPeripheral) {
        record("connect")
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ central: EmulatedCBCentralManager, didFailToConnect peripheral: EmulatedCBPeripheral, error: (any Error)?
    ) { record("fail") }

    func centralManager(
        _ central: EmulatedCBCentralManager, didDisconnectPeripheral peripheral: EmulatedCBPeripheral,
        error: (any Error)?
    ) { record("disconnect") }

    func centralManager(
        _ central: EmulatedCBCentralManager, connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: EmulatedCBPeripheral
    ) { record("event") }

    func centralManager(
        _ central: EmulatedCBCentralManager, didUpdateANCSAuthorizationFor peripheral: EmulatedCBPeripheral
    ) { record("ancs") }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: EmulatedCBPeripheral) { record("ready") }
}

extension Client: @preconcurrency EmulatedCBPeripheralDelegate {
    func peripheralDidUpdateName(_ peripheral: EmulatedCBPeripheral) { record("name") }

    func peripheral(_ peripheral: EmulatedCBPeripheral, didModifyServices invalidatedServices: [EmulatedCBService]) {
        record("modify")
    }

    func peripheral(_ peripheral: EmulatedCBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        record("rssi")
    }

    func peripheral(_ peripheral: EmulatedCBPeripheral, didDiscoverServices error: (any Error)?) {
        record("services")
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverIncludedServicesFor service: EmulatedCBService,
        error: (any Error)?
    ) { record("included") }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverCharacteristicsFor service: EmulatedCBService,
        error: (any Error)?
    ) {
        record("characteristics")
        for characteristic in service.characteristics ?? [] {
            peripheral.setNotifyValue(true, for: characteristic)
            peripheral.readValue(for: characteristic)
        }
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) { record("value \(characteristic.value.map { $0.map(String.init).joined() } ?? "-")") }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didWriteValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) { record("write") }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateNotificationStateFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) { record("subscribed \(characteristic.isNotifying)") }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverDescriptorsFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) { record("descriptors") }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor descriptor: EmulatedCBDescriptor, error: (any Error)?
    ) { record("descriptor") }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didWriteValueFor descriptor: EmulatedCBDescriptor, error: (any Error)?
    ) { record("descriptor written") }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didOpen channel: EmulatedCBL2CAPChannel?, error: (any Error)?
    ) {
        record("channel")
        self.channel = channel
    }
}

/// A server of a client in Swift 6 mode.
@MainActor
final class Server: NSObject, @preconcurrency EmulatedCBPeripheralManagerDelegate {
    let characteristic = EmulatedCBMutableCharacteristic(
        type: CBUUID(string: "5678"), properties: [.read, .notify], value: nil, permissions: .readable)
    var log: [String] = []
    var channel: EmulatedCBL2CAPChannel?
    var psm: CBL2CAPPSM = 0

    func peripheralManagerDidUpdateState(_ peripheral: EmulatedCBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = EmulatedCBMutableService(type: CBUUID(string: "1234"), primary: true)
        characteristic.descriptors = [EmulatedCBMutableDescriptor(type: CBUUID(string: "ABCD"), value: Data([1]))]
        service.characteristics = [characteristic]
        peripheral.add(service)
    }

    func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, willRestoreState dict: [String: Any]) {
        log.append("restore")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: EmulatedCBPeripheralManager, error: (any Error)?) {
        log.append("advertise")
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didAdd service: EmulatedCBService, error: (any Error)?
    ) {
        log.append("add")
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [service.uuid]])
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, central: EmulatedCBCentral,
        didSubscribeTo characteristic: EmulatedCBCharacteristic
    ) {
        log.append("subscribe")
        peripheral.setDesiredConnectionLatency(.low, for: central)
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, central: EmulatedCBCentral,
        didUnsubscribeFrom characteristic: EmulatedCBCharacteristic
    ) { log.append("unsubscribe") }

    func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, didReceiveRead request: EmulatedCBATTRequest) {
        request.value = Data([UInt8(request.offset), 7])
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didReceiveWrite requests: [EmulatedCBATTRequest]
    ) {
        for request in requests { peripheral.respond(to: request, withResult: .success) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: EmulatedCBPeripheralManager) { log.append("ready") }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) { psm = PSM }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) { psm = 0 }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didOpen channel: EmulatedCBL2CAPChannel?, error: (any Error)?
    ) {
        log.append("channel \(channel?.peer.identifier != nil)")
        self.channel = channel
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didUpdateANCSAuthorizationFor central: EmulatedCBCentral
    ) { log.append("ancs \(central.maximumUpdateValueLength > 20)") }
}

/// A delegate with only the required methods, which is not an `NSObject`.
final class BareDelegate: EmulatedCBCentralManagerDelegate, EmulatedCBPeripheralManagerDelegate,
    EmulatedCBPeripheralDelegate
{
    func centralManagerDidUpdateState(_ central: EmulatedCBCentralManager) {}

    func peripheralManagerDidUpdateState(_ peripheral: EmulatedCBPeripheralManager) {}

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: EmulatedCBPeripheral) {}
}
