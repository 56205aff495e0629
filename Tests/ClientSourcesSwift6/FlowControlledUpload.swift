import CoreBluetooth

/// A client that sends a file with write commands, as fast as the link takes them.
@MainActor
final class FlowControlledUpload: NSObject, @preconcurrency CBPeripheralDelegate {
    private let peripheral: CBPeripheral
    private let characteristic: CBCharacteristic
    private var rest: Data
    private(set) var finished = false

    init(_ data: Data, to characteristic: CBCharacteristic, of peripheral: CBPeripheral) {
        self.peripheral = peripheral
        self.characteristic = characteristic
        rest = data
        super.init()
        peripheral.delegate = self
    }

    func send() {
        let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
        while !rest.isEmpty, peripheral.canSendWriteWithoutResponse {
            let chunk = rest.prefix(length)
            peripheral.writeValue(Data(chunk), for: characteristic, type: .withoutResponse)
            rest = rest.dropFirst(chunk.count)
        }
        if rest.isEmpty, !finished {
            peripheral.writeValue(Data(), for: characteristic, type: .withResponse)
        }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        send()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        finished = error == nil && characteristic === self.characteristic
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        if RSSI.intValue < -90 { peripheral.readRSSI() }
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) {
        assert(peripheral.identifier == self.peripheral.identifier)
    }
}
