import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

/// A manager is on when its delay is over, even if its queue has not run the callback yet.
final class ManagerStartTests: XCTestCase {
    private let bus = EmulatorBus.shared
    private let queue = DispatchQueue(label: "busy")
    private let recorder = Recorder()

    override func setUp() async throws {
        await bus.reset()
        var configuration = EmulatorConfiguration.instant
        configuration.stateUpdateDelay = 0.001
        await bus.configure(configuration)
        queue.suspend()
    }

    override func tearDown() async throws { await bus.reset() }

    /// Waits for the end of the delay of the managers, in the world's time.
    private func delayIsOver() async {
        let due = bus.emulator.now + .milliseconds(1)
        while bus.emulator.now < due { await Task.yield() }
    }

    /// Resumes the queue until a number of callbacks have arrived, for 5 s at most.
    private func callbacks(_ count: Int) async -> [String] {
        queue.resume()
        let end = bus.emulator.now + .seconds(5)
        while true {
            let log = await withCheckedContinuation { continuation in
                queue.async { [recorder] in continuation.resume(returning: recorder.log) }
            }
            if log.count >= count || bus.emulator.now > end { return log.sorted() }
            await Task.yield()
        }
    }

    func testManagersAreOnWhenTheDelayIsOver() async {
        let central = EmulatedCBCentralManager(delegate: recorder, queue: queue)
        let server = EmulatedCBPeripheralManager(delegate: recorder, queue: queue)
        await delayIsOver()
        XCTAssertEqual([central.state, server.state], [.poweredOn, .poweredOn])
        let log = await callbacks(2)
        XCTAssertEqual(log, ["centralState", "peripheralState"])
        XCTAssertEqual([central.state, server.state], [.poweredOn, .poweredOn])
    }

    func testCommandsAreKeptUntilTheCallback() async {
        let central = EmulatedCBCentralManager(delegate: recorder, queue: queue)
        let server = EmulatedCBPeripheralManager(delegate: recorder, queue: queue)
        await delayIsOver()
        let service = EmulatedCBMutableService(type: CBUUID(string: "1234"), primary: true)
        server.add(service)
        server.startAdvertising([CBAdvertisementDataLocalNameKey: "kept"])
        central.scanForPeripherals(withServices: nil)
        central.stopScan()
        XCTAssertFalse(central.isScanning)
        central.scanForPeripherals(withServices: nil)
        XCTAssertTrue(central.isScanning && server.isAdvertising)
        _ = await callbacks(2)
        XCTAssertTrue(central.isScanning && server.isAdvertising)
        XCTAssertTrue(server.publishedServices.first === service)
    }

    func testAnAdapterThatIsOffIsNotAnnounced() async {
        let central = EmulatedCBCentralManager(delegate: recorder, queue: queue)
        for host in bus.emulator.hosts { host.setPower(false) }
        await delayIsOver()
        XCTAssertEqual(central.state, .unknown)
        _ = await callbacks(1)
        XCTAssertEqual(central.state, .poweredOff)
    }

    func testWithoutADelayTheStateComesWithTheQueue() async {
        await bus.configure(.instant)
        let central = EmulatedCBCentralManager(delegate: recorder, queue: queue)
        XCTAssertEqual(central.state, .unknown)
        _ = await callbacks(1)
        XCTAssertEqual(central.state, .poweredOn)
    }
}
