import CoreBluetooth
import CoreBluetoothEmulator

/// A delegate of all three kinds that records its calls.
final class Recorder: NSObject {
    /// The names of the callbacks, in order.
    var log: [String] = []
    var discovered: [(peripheral: EmulatedCBPeripheral, data: [String: Any], rssi: Int)] = []
    var connectionEvents: [CBConnectionEvent] = []
    var errors: [String: any Error] = [:]
    var centralRestored: [String: Any]?
    var peripheralRestored: [String: Any]?
    var addedServices: [EmulatedCBService] = []
    var subscribed: [EmulatedCBCentral] = []
    var reads: [EmulatedCBATTRequest] = []
    var writes: [[EmulatedCBATTRequest]] = []
    var ancs: [EmulatedCBCentral] = []
    var publishedPSM: CBL2CAPPSM?
    var clientChannel: EmulatedCBL2CAPChannel?
    var serverChannel: EmulatedCBL2CAPChannel?
    var rssi: Int?
    var updates: [Data?] = []
    /// The treatment of requests; nil leaves them to the manager.
    var onRead: ((EmulatedCBPeripheralManager, EmulatedCBATTRequest) -> Void)?
    var onWrite: ((EmulatedCBPeripheralManager, [EmulatedCBATTRequest]) -> Void)?

    func count(_ name: String) -> Int { log.filter { $0 == name }.count }

    private func record(_ name: String, _ error: (any Error)? = nil) {
        log.append(name)
        if let error { errors[name] = error }
    }
}

extension Recorder: EmulatedCBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: EmulatedCBCentralManager) { record("centralState") }

    func centralManager(_ central: EmulatedCBCentralManager, willRestoreState dict: [String: Any]) {
        record("centralRestore")
        centralRestored = dict
    }

    func centralManager(
        _ central: EmulatedCBCentralManager, didDiscover peripheral: EmulatedCBPeripheral,
        advertisementData: [String: Any], rssi RSSI: NSNumber
    ) {
        record("discover")
        discovered.append((peripheral, advertisementData, RSSI.intValue))
    }

    func centralManager(_ central: EmulatedCBCentralManager, didConnect peripheral: EmulatedCBPeripheral) {
        record("connect")
    }

    func centralManager(
        _ central: EmulatedCBCentralManager, didFailToConnect peripheral: EmulatedCBPeripheral, error: (any Error)?
    ) {
        record("failToConnect", error)
    }

    func centralManager(
        _ central: EmulatedCBCentralManager, didDisconnectPeripheral peripheral: EmulatedCBPeripheral,
        error: (any Error)?
    ) {
        record("disconnect", error)
    }

    func centralManager(
        _ central: EmulatedCBCentralManager, connectionEventDidOccur event: CBConnectionEvent,
        for peripheral: EmulatedCBPeripheral
    ) {
        record("connectionEvent")
        connectionEvents.append(event)
    }

    func centralManager(
        _ central: EmulatedCBCentralManager, didUpdateANCSAuthorizationFor peripheral: EmulatedCBPeripheral
    ) {
        record("centralANCS")
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: EmulatedCBPeripheral) { record("writeReady") }
}

extension Recorder: EmulatedCBPeripheralDelegate {
    func peripheralDidUpdateName(_ peripheral: EmulatedCBPeripheral) { record("name") }

    func peripheral(_ peripheral: EmulatedCBPeripheral, didModifyServices invalidatedServices: [EmulatedCBService]) {
        record("modifyServices")
    }

    func peripheral(_ peripheral: EmulatedCBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        record("rssi", error)
        rssi = RSSI.intValue
    }

    func peripheral(_ peripheral: EmulatedCBPeripheral, didDiscoverServices error: (any Error)?) {
        record("services", error)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverIncludedServicesFor service: EmulatedCBService,
        error: (any Error)?
    ) {
        record("included", error)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverCharacteristicsFor service: EmulatedCBService,
        error: (any Error)?
    ) {
        record("characteristics", error)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {
        record("value", error)
        updates.append(characteristic.value)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didWriteValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {
        record("write", error)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateNotificationStateFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {
        record("notifyState", error)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverDescriptorsFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {
        record("descriptors", error)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor descriptor: EmulatedCBDescriptor, error: (any Error)?
    ) {
        record("descriptorValue", error)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didWriteValueFor descriptor: EmulatedCBDescriptor, error: (any Error)?
    ) {
        record("descriptorWrite", error)
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didOpen channel: EmulatedCBL2CAPChannel?, error: (any Error)?
    ) {
        record("openChannel", error)
        clientChannel = channel
    }
}

extension Recorder: EmulatedCBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: EmulatedCBPeripheralManager) { record("peripheralState") }

    func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, willRestoreState dict: [String: Any]) {
        record("peripheralRestore")
        peripheralRestored = dict
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: EmulatedCBPeripheralManager, error: (any Error)?) {
        record("advertise", error)
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didAdd service: EmulatedCBService, error: (any Error)?
    ) {
        record("add", error)
        addedServices.append(service)
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, central: EmulatedCBCentral,
        didSubscribeTo characteristic: EmulatedCBCharacteristic
    ) {
        record("subscribe")
        subscribed.append(central)
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, central: EmulatedCBCentral,
        didUnsubscribeFrom characteristic: EmulatedCBCharacteristic
    ) {
        record("unsubscribe")
    }

    func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, didReceiveRead request: EmulatedCBATTRequest) {
        record("read")
        reads.append(request)
        onRead?(peripheral, request)
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didReceiveWrite requests: [EmulatedCBATTRequest]
    ) {
        record("receiveWrite")
        writes.append(requests)
        onWrite?(peripheral, requests)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: EmulatedCBPeripheralManager) { record("updateReady") }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        record("publish", error)
        publishedPSM = PSM
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        record("unpublish", error)
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didOpen channel: EmulatedCBL2CAPChannel?, error: (any Error)?
    ) {
        record("serverOpen", error)
        serverChannel = channel
    }

    func peripheralManager(
        _ peripheral: EmulatedCBPeripheralManager, didUpdateANCSAuthorizationFor central: EmulatedCBCentral
    ) {
        record("peripheralANCS")
        ancs.append(central)
    }
}
