#if Emulator
import BluetoothEmulator
import CoreBluetoothClasses
import Dispatch
import Foundation
import Testing

@Suite struct SharedWorldTests {
    /// Two queues, one world, each callback causing the next command: neither waits for the other's lock.
    @Test func twoManagersDriveOneWorldFromTwoThreads() async throws {
        let emulator = try Emulator(world: .builtIn, configuration: .instant)
        async let first = Reader.run(on: emulator, label: "first", reads: 2000)
        async let second = Reader.run(on: emulator, label: "second", reads: 2000)
        let values = await [first, second]
        #expect(values == [2000, 2000])
    }
}

/// A client that finds the echo device, connects, and reads one characteristic again and again.
private final class Reader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: the stored properties are used only on the manager's queue, except for `manager`, which is set before
    // the queue is resumed.
    private let reads: Int
    private let done: (Int) -> Void
    private var count = 0
    private var peripheral: CBPeripheral?
    private var manager: CBCentralManager?

    private init(reads: Int, done: @escaping (Int) -> Void) {
        self.reads = reads
        self.done = done
    }

    static func run(on emulator: Emulator, label: String, reads: Int) async -> Int {
        let queue = DispatchQueue(label: label)
        return await withCheckedContinuation { continuation in
            queue.suspend()
            let kept = ObjectHolder()
            let reader = Reader(reads: reads) { count in
                kept.reader = nil
                continuation.resume(returning: count)
            }
            kept.reader = reader
            reader.manager = CBCentralManager(backend: .emulator(emulator), delegate: reader, queue: queue)
            queue.resume()
        }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: nil)
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard advertisementData[CBAdvertisementDataLocalNameKey] as? String == "Echo", self.peripheral == nil
        else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        guard count == 0, let readable = service.characteristics?.first(where: { $0.properties.contains(.read) })
        else { return }
        peripheral.readValue(for: readable)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        count += 1
        guard count < reads else { return done(count) }
        peripheral.readValue(for: characteristic)
    }
}

/// Keeps a reader alive until it is done.
private final class ObjectHolder: @unchecked Sendable {
    // Invariant: set before the reader's queue runs, cleared on it.
    var reader: Reader?
}
#endif
