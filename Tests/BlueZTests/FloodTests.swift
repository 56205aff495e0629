#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import CoreBluetoothClasses
import Dispatch
import Foundation
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// An app whose queue is blocked, on a private bus, against a scripted `org.bluez` that continues to send.
@Suite struct FloodTests {
    private static let limit = 100
    private static let count = 3000

    private func number(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    @Test func whatAStuckQueueIsSentIsLimitedAndCounted() async throws {
        let fixture = try BackendFixture()
        let backend = fixture.makeBackend()
        // A separate manager sees when the last value has arrived.
        let (daemon, observer, peer, link) = try await fixture.connected(of: backend)
        let attribute = try await fixture.attribute(observer, link)
        observer.submit(
            .request(link: link, operation: OperationID(rawValue: 10), .setNotifying(attribute, true)))

        let app = NotifiedApp(of: backend, peripheral: peer.uuid, limit: Self.limit)
        try await app.values.first { $0 == NotifiedApp.subscribed }
        try await app.stop(while: {
            for index in 0..<Self.count { daemon.notify(fixture.characteristic, number(index)) }
            let last = CentralEvent.valueNotified(
                link: link, attribute: attribute, value: Data(number(Self.count - 1)))
            try await fixture.recorder.events.first { $0 == last }
        })
        try await app.values.first { $0 == Data(number(Self.count - 1)) }

        let delivered = app.values.elements.count - 1
        #expect(delivered <= Self.limit + 1)
        #expect(app.droppedNotifications == Self.count - delivered)
        // The oldest are dropped.
        #expect(app.values.elements.suffix(50) == (Self.count - 50..<Self.count).map { Data(number($0)) }[...])
    }
}

/// An app that connects, subscribes, and stores the values that it receives.
private final class NotifiedApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: the variables are used on `queue` only.
    static let subscribed = Data()
    let values = Recorder<Data>()
    private let queue = DispatchQueue(label: "flooded")
    private let identifier: UUID
    private var manager: CBCentralManager?
    private var device: CBPeripheral?

    init(of backend: BlueZBackend, peripheral identifier: UUID, limit: Int) {
        self.identifier = identifier
        super.init()
        var limits = CBManagerLimits()
        limits.undeliveredEvents = limit
        queue.sync {
            manager = CBCentralManager(
                backend: .custom(backend), delegate: self, queue: queue, options: [CBManagerOptionLimitsKey: limits])
        }
    }

    var droppedNotifications: Int { queue.sync { manager?.droppedEvents.notifications ?? 0 } }

    /// Blocks the queue while `body` runs.
    func stop(while body: () async throws -> Void) async throws {
        let end = DispatchSemaphore(value: 0)
        await withCheckedContinuation { blocked in
            queue.async {
                blocked.resume()
                end.wait()
            }
        }
        defer { end.signal() }
        try await body()
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        device = central.retrievePeripherals(withIdentifiers: [identifier]).first
        device?.delegate = self
        if let device { central.connect(device) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) { values.append(Self.subscribed) }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) { values.append(characteristic.value ?? Data()) }
}
#endif
