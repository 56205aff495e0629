import BluetoothEmulator
import CoreBluetooth

/// The closures that tests set: for the process, or for the world of the task's emulator.
///
/// They belong to the test, and outlive the simulation.
struct SimulationClosures {
    /// Returns the state that is restored under an identifier.
    var restoration: ((_ identifierKey: String) -> [String: Any]?)?
    /// Returns whether the adapter has features.
    var features: ((_ features: CBMCentralManager.Feature) -> Bool)?
    /// Returns the state that is restored for a peripheral manager.
    var peripheralRestoration: ((_ identifierKey: String) -> [String: Any]?)?

    private static let ofProcess = Protected(SimulationClosures())

    /// The closures of this call: those of the selected emulator's world take precedence.
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
