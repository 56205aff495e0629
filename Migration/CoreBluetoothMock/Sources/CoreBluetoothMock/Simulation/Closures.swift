import BluetoothEmulator
import CoreBluetooth

/// The closures that tests set: for the process, or for the world of the task's emulator.
///
/// They are the test's, and outlive the simulation.
struct SimulationClosures {
    /// Answers what is restored under an identifier.
    var restoration: ((_ identifierKey: String) -> [String: Any]?)?
    /// Answers which features the adapter has.
    var features: ((_ features: CBMCentralManager.Feature) -> Bool)?
    /// Answers what is restored for a peripheral manager.
    var peripheralRestoration: ((_ identifierKey: String) -> [String: Any]?)?

    private static let ofProcess = Protected(SimulationClosures())

    /// The closures of this call: those of the selected emulator's world come first.
    static var current: SimulationClosures {
        let general = ofProcess.withLock { $0 }
        guard Emulator.selected != nil, let own = MockWorlds.present?.closures else { return general }
        return SimulationClosures(
            restoration: own.restoration ?? general.restoration, features: own.features ?? general.features,
            peripheralRestoration: own.peripheralRestoration ?? general.peripheralRestoration)
    }

    /// Changes the closures of the selected emulator's world, or those of the process.
    static func change(_ body: (inout SimulationClosures) -> Void) {
        guard Emulator.selected != nil else { return ofProcess.withLock(body) }
        MockWorlds.current.world.changeClosures(body)
    }
}
