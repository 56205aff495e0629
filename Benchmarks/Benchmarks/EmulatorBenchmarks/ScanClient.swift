import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import CoreBluetooth
import Dispatch
import Foundation

/// An app that scans many advertisers in virtual time.
final class ScanClient: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Invariant: `found` is used only on the manager's queue; the rest is constant after the initializer.
    private let emulator: Emulator
    private let advertisers: Int
    private let duplicates: Bool
    private var manager: CBCentralManager?
    private let queue = DispatchQueue(label: "benchmark")
    private var found: [UUID: Int] = [:]

    /// - Parameter advertising: The one set of each device; nil for a name and an interval of 100 ms.
    init(
        advertisers: Int, duplicates: Bool, _ configuration: EmulatorConfiguration = .quiet,
        advertising: AdvertisingDescription? = nil
    ) throws {
        emulator = Emulator(configuration: configuration, time: .virtual)
        self.advertisers = advertisers
        self.duplicates = duplicates
        for number in 0..<advertisers {
            let data = AdvertisingData(localName: "Device \(number)", services: ["180D"])
            try emulator.add(
                PeripheralDescription(
                    name: "Device \(number)", address: DeviceAddress(bits: 0xC000_0000_0000 + UInt64(number)),
                    advertising: [advertising ?? AdvertisingDescription(data, interval: .milliseconds(100))]))
        }
        super.init()
        manager = CBCentralManager(
            backend: .emulator(emulator), delegate: self, queue: queue)
    }

    /// Captures each packet in a file that keeps nothing.
    func capture() throws -> EmulatorCapture {
        var settings = CaptureSettings()
        settings.advertising = .all
        return try emulator.capture(to: "/dev/null", settings: settings)
    }

    /// Scans for a duration.
    func run(for duration: Duration) async throws {
        try await emulator.advance(by: duration)
    }

    /// The number of advertising events in that time.
    ///
    /// If each packet is reported, each is simulated; otherwise the emulator computes only those with new content, and
    /// the number follows from the intervals.
    var advertisingEvents: Int {
        duplicates ? emulator.advertisingPackets : Int(Double(advertisers) * (emulator.now / Self.meanInterval))
    }

    /// The number of packets that were reported to the app.
    var reportCount: Int { queue.sync { found.values.reduce(0, +) } }

    /// The mean interval: 100 ms, and a random 0–10 ms.
    private static let meanInterval = Duration.milliseconds(105)

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: duplicates])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        found[peripheral.identifier, default: 0] += 1
    }
}
