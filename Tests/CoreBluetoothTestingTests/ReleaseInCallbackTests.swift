import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@Suite(.emulator(.instant, world: .builtIn)) struct ReleaseInCallbackTests {
    @Test(arguments: [false, true]) func theCallbackInWhichAnAppLetsGoOfItsManagerIsSeen(onMain: Bool) async {
        let app = OneShotScanner(queue: onMain ? .main : DispatchQueue(label: "one shot"))
        await Emulator.current.expect(.didUpdateState, .didDiscover)
        await Emulator.current.expectNone(of: .didDiscover, for: .seconds(5))
        #expect(app.isDone)
    }
}

/// A scanner that releases its manager with the first device that it finds.
private final class OneShotScanner: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
    // Invariant: used on the manager's queue, and by the test when no callback can arrive.
    private var manager: CBCentralManager?
    private(set) var isDone = false

    init(queue: DispatchQueue) {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        isDone = true
        manager = nil
    }
}
