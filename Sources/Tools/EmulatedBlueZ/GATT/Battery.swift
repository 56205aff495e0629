#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The Battery Service of devices, which `bluetoothd` itself reads.
///
/// Source: BlueZ, `profiles/battery/battery.c`, `doc/org.bluez.Battery.rst`.
enum Battery {
    static let level = BluetoothUUID(0x2A19)
    static let highest: UInt8 = 100
    /// The source of the levels that the daemon itself reads.
    static let source = "GATT Battery Service"
}

/// The last levels of a battery; BlueZ shows their average while they fluctuate.
///
/// Pure. Source: BlueZ, `src/shared/battery.c`, since 5.85.
struct BatteryFilter: Sendable {
    private static let size = 8
    /// The greatest step of a fluctuation; after a greater one the level itself is shown.
    private static let greatestStep = 4

    private var levels: [UInt8] = []
    private var average: UInt8?

    /// Records a level, and returns the level to show.
    mutating func shown(_ level: UInt8) -> UInt8 {
        levels.append(level)
        if levels.count == Self.size {
            average = Self.average(levels)
            levels.removeFirst()
        }
        return average ?? level
    }

    /// The average of levels that change direction more than once; nil for other levels.
    private static func average(_ levels: [UInt8]) -> UInt8? {
        let steps = zip(levels.dropFirst(), levels).map { Int($0) - Int($1) }.filter { $0 != 0 }
        guard steps.allSatisfy({ abs($0) <= greatestStep }) else { return nil }
        let turns = zip(steps.dropFirst(), steps).count { $0.signum() != $1.signum() }
        return turns > 1 ? UInt8(levels.reduce(0) { $0 + Int($1) } / levels.count) : nil
    }
}

extension DaemonContext {
    /// Shows the level that a device reported, unless a client provides the level of this device.
    mutating func showBatteryLevel(_ value: Data, at path: ObjectPath) {
        guard let level = value.first, level <= Battery.highest, batteries.provided[path] == nil else { return }
        if !tree.has(BlueZInterfaces.battery, at: path) { addBattery(source: Battery.source, at: path) }
        setBatteryLevel(level, at: path)
    }

    /// Removes the battery that the daemon itself read, after the link has ended.
    mutating func removeOwnBattery(at path: ObjectPath) {
        if batteries.provided[path] == nil { removeBattery(at: path) }
    }

    // MARK: Objects

    /// Adds the battery of a device; its level follows.
    mutating func addBattery(source: String?, at path: ObjectPath) {
        var properties: ObjectTree.Properties = [:]
        if configuration.hasBatteryProviders, let source { properties["Source"] = .string(source) }
        tree.add([BlueZInterfaces.battery: properties], at: path)
    }

    mutating func setBatteryLevel(_ level: UInt8, at path: ObjectPath) {
        guard level <= Battery.highest,
            tree.properties(of: BlueZInterfaces.battery, at: path)?["Percentage"] != .byte(level)
        else { return }
        let shown = dialect >= .bluez5_87 ? batteries.filters[path, default: BatteryFilter()].shown(level) : level
        set("Percentage", .byte(shown), of: BlueZInterfaces.battery, at: path)
    }

    mutating func removeBattery(at path: ObjectPath) {
        batteries.filters[path] = nil
        batteries.provided[path] = nil
        remove(path, only: [BlueZInterfaces.battery])
    }
}
#endif
