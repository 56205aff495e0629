import Benchmark
import BluetoothDBus
import CHeap

/// The model of BlueZ's objects with ten thousand devices, decoded from D-Bus messages.
let benchmarks: @Sendable () -> Void = {
    let count = 10_000
    let memory = BenchmarkMetric.custom("Heap bytes / device")
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal], warmupIterations: 1, maxDuration: .seconds(3))

    var configuration = Benchmark.defaultConfiguration
    configuration.metrics += [memory]
    Benchmark("10,000 devices: snapshot", configuration: configuration) { benchmark in
        let reply = try Messages.snapshot(count)
        let before = heap_bytes_in_use()
        benchmark.startMeasurement()
        let objects = ObjectModel()
        let changes = try objects.replace(with: reply)
        benchmark.stopMeasurement()
        precondition(changes.count == count + 1 && objects.devices.count == count)
        benchmark.measurement(memory, (Int(heap_bytes_in_use()) - Int(before)) / count)
        // The reply lives until here, so that only the model and its changes are counted.
        blackHole(reply)
        blackHole(changes)
        blackHole(objects)
    }

    Benchmark("10,000 devices: one change of signal strength each") { benchmark in
        let objects = ObjectModel()
        _ = try objects.replace(with: Messages.snapshot(count))
        let signals = try (0..<count).map(Messages.signalStrength)
        benchmark.startMeasurement()
        var changes = 0
        for signal in signals { changes += try objects.apply(signal).count }
        benchmark.stopMeasurement()
        precondition(changes == count)
    }

    Benchmark("10,000 devices: all removed") { benchmark in
        let objects = ObjectModel()
        _ = try objects.replace(with: Messages.snapshot(count))
        let reply = try Messages.snapshot(nil)
        benchmark.startMeasurement()
        let changes = try objects.replace(with: reply)
        benchmark.stopMeasurement()
        precondition(changes.count == count + 1 && objects.devices.isEmpty)
    }
}

/// Messages as `bluetoothd` sends them.
enum Messages {
    static func path(_ number: Int) -> ObjectPath {
        let digits = String(number + 0xC0_0000_000000, radix: 16, uppercase: true)
        let octets = stride(from: 0, to: 12, by: 2).map { String(digits.dropFirst($0).prefix(2)) }
        return ObjectPath("/org/bluez/hci0/dev_" + octets.joined(separator: "_")) ?? .root
    }

    /// Returns the reply of `GetManagedObjects` with an adapter and a number of devices; nil for no object at all.
    static func snapshot(_ count: Int?) throws(DBusError) -> DBusMessage {
        var entries: [DBusDictionary.Entry] = []
        if let count, let adapter = ObjectPath("/org/bluez/hci0") {
            let properties: [String: DBusValue] = [
                "Address": .string("00:11:22:33:44:55"), "Powered": .boolean(true),
            ]
            entries.append(object(adapter, Adapter1.interface, properties))
            entries += (0..<count).map { object(path($0), Device1.interface, device($0, adapter)) }
        }
        let objects = DBusDictionary(
            keyType: .objectPath,
            valueType: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)), entries: entries)
        return try .signal(path: .root, interface: "org.example.Reply", member: "Reply", [.dictionary(objects)])
    }

    /// Returns a signal for a new signal strength of a device.
    static func signalStrength(_ number: Int) throws(DBusError) -> DBusMessage {
        let values: [String: DBusValue] = ["RSSI": .int16(Int16(-40 - number % 40))]
        return try .signal(
            path: path(number), interface: ObjectModel.properties, member: "PropertiesChanged",
            [.string(Device1.interface), .properties(values), .strings([])])
    }

    private static func object(
        _ path: ObjectPath, _ interface: String, _ properties: [String: DBusValue]
    ) -> DBusDictionary.Entry {
        let interfaces = DBusDictionary(
            keyType: .string, valueType: .dictionary(key: .string, value: .variant),
            entries: [.init(key: .string(interface), value: .properties(properties))])
        return .init(key: .objectPath(path), value: .dictionary(interfaces))
    }

    private static func device(_ number: Int, _ adapter: ObjectPath) -> [String: DBusValue] {
        let address = path(number).lastElement.dropFirst(4).map { $0 == "_" ? ":" : $0 }
        return [
            "Address": .string(String(address)), "AddressType": .string("random"), "Name": .string("Device \(number)"),
            "Alias": .string("Device \(number)"), "Adapter": .objectPath(adapter), "Paired": .boolean(false),
            "Connected": .boolean(false), "ServicesResolved": .boolean(false), "RSSI": .int16(-30),
            "UUIDs": .strings(["0000180d-0000-1000-8000-00805f9b34fb"]), "TxPower": .int16(4),
        ]
    }
}
