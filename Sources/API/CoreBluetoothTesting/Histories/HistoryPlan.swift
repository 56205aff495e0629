import BluetoothEmulator
import BluetoothSupport
import Foundation

/// A history as a world carries it out: its seed, its script, and its additional devices.
///
/// A failed search stores it as a world file, which the test runs again if `COREBLUETOOTH_HISTORY` names it.
struct HistoryPlan: Sendable {
    var seed: UInt64
    var script: [ScriptStep]
    var twins: [PeripheralDescription]

    init(_ history: RadioHistory, _ devices: [PeripheralDescription]) {
        seed = history.seed
        script = history.script
        twins = history.twins.sorted().compactMap { name in devices.first { $0.name == name }?.twin }
    }

    /// Reads a plan from a world file.
    ///
    /// - Parameter world: The world of the test; devices of the file beyond it that repeat a name are twins.
    init(contentsOfFile file: String, for world: WorldDescription) throws {
        let stored = try WorldDescription(contentsOfFile: file)
        seed = stored.seed ?? 1
        // The test's world has its own script already.
        script = Array(
            stored.script.starts(with: world.script) ? stored.script.dropFirst(world.script.count) : stored.script[...])
        var known = world.devices.map(\.name)
        twins = []
        for device in stored.devices {
            if let index = known.firstIndex(of: device.name) {
                known.remove(at: index)
            } else if stored.devices.first(where: { $0.name == device.name }) != device
                || world.devices.contains(where: { $0.name == device.name })
            {
                twins.append(device)
            }
        }
    }

    /// The test's world with the additional devices.
    func world(_ world: WorldDescription) -> WorldDescription {
        var world = world
        world.devices += twins
        return world
    }

    /// The whole history as a world file.
    ///
    /// - Parameters:
    ///   - world: The world of the test.
    ///   - devices: All devices of the test without incidents, those that the test adds included.
    func file(_ world: WorldDescription, _ devices: [PeripheralDescription]) throws -> Data {
        var world = world
        world.seed = seed
        world.devices = devices + twins
        world.script += script
        return try world.json()
    }

    /// The file that `COREBLUETOOTH_HISTORY` names; nil without it.
    static let fileOfEnvironment = ProcessInfo.processInfo.environment["COREBLUETOOTH_HISTORY"].flatMap {
        $0.isEmpty ? nil : $0
    }
}

extension PeripheralDescription {
    /// The same device at an address that no other device derives from its name.
    fileprivate var twin: PeripheralDescription {
        var twin = self
        twin.address = Self.address(derivedFrom: name + "\u{0}twin")
        return twin
    }
}
