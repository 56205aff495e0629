import CoreBluetooth

/// A client that reads the PSM from its characteristic, opens an L2CAP channel, and sends.
@MainActor
final class ChannelClient: NSObject, @preconcurrency CBPeripheralDelegate, @preconcurrency StreamDelegate {
    private var channel: CBL2CAPChannel?
    private var received = Data()
    private var pending = Data("hello".utf8)

    func open(_ psm: CBL2CAPPSM, on peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.openL2CAPChannel(psm)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        guard characteristic.uuid == CBUUID(string: CBUUIDL2CAPPSMCharacteristicString),
            let value = characteristic.value, value.count == 2
        else { return }
        open(CBL2CAPPSM(value[0]) | CBL2CAPPSM(value[1]) << 8, on: peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel, error == nil, channel.peer.identifier == peripheral.identifier else { return }
        self.channel = channel
        for stream in [channel.inputStream, channel.outputStream] as [Stream?] {
            stream?.delegate = self
            stream?.schedule(in: .main, forMode: .default)
            stream?.open()
        }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .hasBytesAvailable: read()
        case .hasSpaceAvailable: write()
        case .endEncountered, .errorOccurred: channel = nil
        default: break
        }
    }

    private func read() {
        guard let input = channel?.inputStream else { return }
        var buffer = [UInt8](repeating: 0, count: 1024)
        while input.hasBytesAvailable {
            let count = input.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return }
            received.append(contentsOf: buffer[..<count])
        }
    }

    private func write() {
        guard let output = channel?.outputStream, !pending.isEmpty else { return }
        let count = pending.withUnsafeBytes { bytes in
            bytes.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
        }
        pending.removeFirst(max(0, count))
    }
}
