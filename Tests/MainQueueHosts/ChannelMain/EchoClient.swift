import BluetoothBackend
import CoreBluetooth

/// A client that sends bytes over a channel and compares the returned bytes.
///
/// Runs on the main thread, except for `poll`, which runs on a separate queue.
final class EchoClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, StreamDelegate {
    /// The ways to drive the streams.
    enum Style: String {
        case runloop, nested, dispatch, poll
    }

    private let style: Style
    private let sent = Data((0..<100_000).map { UInt8($0 % 251) })
    private var unsent: Data
    private var received = Data()
    private var peripheral: CBPeripheral?
    private var channel: CBL2CAPChannel?

    init(_ style: Style) {
        self.style = style
        unsent = sent
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        peripheral = central.retrievePeripherals(withIdentifiers: [EchoBackend.peer.uuid]).first
        peripheral?.delegate = self
        if let peripheral { central.connect(peripheral) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.openL2CAPChannel(0x80)
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        self.channel = channel
        for stream in [channel?.inputStream, channel?.outputStream] as [Stream?] {
            if style != .poll {
                stream?.delegate = self
                stream?.schedule(in: .main, forMode: .default)
            }
            stream?.open()
        }
        switch style {
        case .poll: poll()
        // A loop within a callback, as in apps that wait for something; the main queue is busy meanwhile.
        case .nested: while RunLoop.main.run(mode: .default, before: .distantFuture) {}
        case .runloop, .dispatch: break
        }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        dispatchPrecondition(condition: .onQueue(.main))
        switch eventCode {
        case .hasSpaceAvailable: write()
        case .hasBytesAvailable: read()
        default: break
        }
    }

    private func poll() {
        while received.count < sent.count {
            if channel?.outputStream.hasSpaceAvailable == true { write() }
            if channel?.inputStream.hasBytesAvailable == true { read() }
        }
    }

    private func write() {
        guard let output = channel?.outputStream, !unsent.isEmpty else { return }
        let count = unsent.withUnsafeBytes { bytes in
            bytes.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
        }
        unsent = unsent.dropFirst(max(0, count))
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = channel?.inputStream.read(&buffer, maxLength: buffer.count) ?? 0
        received += buffer.prefix(max(0, count))
        guard received.count >= sent.count else { return }
        print(received == sent ? "echoed \(received.count) bytes" : "other bytes came back")
        exit(received == sent ? 0 : 1)
    }
}
