import BluetoothSupport
import CoreBluetoothClasses
import Foundation
import Synchronization

/// A delegate that records its calls, and checks that it is called on one queue, one at a time.
final class CallbackRecorder: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, Sendable {
    private struct State: Sendable {
        var lines: [String] = []
        var isInside = false
        var overlaps = 0
        var onEach: (@Sendable (String) -> Void)?
    }

    private let state = Lock(State())

    var lines: [String] { state.withLock { $0.lines } }
    var overlaps: Int { state.withLock { $0.overlaps } }

    /// Called within each callback.
    func onEach(_ body: @escaping @Sendable (String) -> Void) { state.withLock { $0.onEach = body } }

    private func record(_ line: String) {
        let body = state.withLock { state in
            state.lines.append(line)
            if state.isInside { state.overlaps += 1 }
            state.isInside = true
            return state.onEach
        }
        body?(line)
        state.withLock { $0.isInside = false }
    }

    private func text(_ error: (any Error)?) -> String {
        switch error {
        case nil: ""
        case let error as CBError: " CBError \(error.errorCode)"
        case let error as CBATTError: " CBATTError \(error.errorCode)"
        case let error?: " \(error)"
        }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { record("state \(central.state)") }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        record("discovered \(peripheral.name ?? "-") \(RSSI)")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        record("connected \(peripheral.state)")
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        record("failed to connect \(peripheral.state)" + text(error))
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        record("disconnected \(peripheral.state)" + text(error))
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { record("name \(peripheral.name ?? "-")") }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        record("rssi \(RSSI)" + text(error))
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        record("services \(peripheral.services?.map(\.uuid.uuidString) ?? [])" + text(error))
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        record("characteristics \(service.characteristics?.map(\.uuid.uuidString) ?? [])" + text(error))
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record("value \(characteristic.value.map { Array($0) } ?? [])" + text(error))
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record("written" + text(error))
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        record("notifying \(characteristic.isNotifying)" + text(error))
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        record("descriptor \(descriptor.value.map { "\($0)" } ?? "-")" + text(error))
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        record("descriptors \(characteristic.descriptors?.map(\.uuid.uuidString) ?? [])" + text(error))
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        record("modified \(invalidatedServices.map(\.uuid.uuidString))")
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { record("ready") }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        record("channel \(channel == nil ? "none" : "open")" + text(error))
    }
}
