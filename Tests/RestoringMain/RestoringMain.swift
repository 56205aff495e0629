import CoreBluetooth
import Dispatch
import Foundation

/// An app that restores the state in which it was killed: a connection and a subscription.
///
/// The first run creates both, and waits to be killed; the next run restores them, and ends with the first value.
@main final class RestoringMain: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private static let service = CBUUID(string: "C0DE0001-7A3D-4C5B-9E1F-2B6A8D4C0F01")
    private static let characteristic = CBUUID(string: "C0DE0103-7A3D-4C5B-9E1F-2B6A8D4C0F01")
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var isRestored = false

    static func main() {
        let app = RestoringMain()
        app.manager = CBCentralManager(
            delegate: app, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "restoring"])
        withExtendedLifetime(app) { dispatchMain() }
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        guard let found = peripherals.first else { return say("restored nothing") }
        isRestored = true
        peripheral = found
        found.delegate = self
        let notifying = (found.services ?? []).flatMap { $0.characteristics ?? [] }.filter(\.isNotifying)
        say("restored \(found.state == .connected ? "connected" : "not connected"), notifying \(notifying.map(\.uuid))")
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn, peripheral == nil else { return }
        central.scanForPeripherals(withServices: [Self.service])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        central.stopScan()
        self.peripheral = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([Self.service])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([Self.characteristic], for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        say(error.map { "not subscribed: \($0)" } ?? "subscribed")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        say("value \((characteristic.value ?? Data()).map { String(format: "%02X", $0) }.joined())")
        if isRestored { exit(0) }
    }
}
