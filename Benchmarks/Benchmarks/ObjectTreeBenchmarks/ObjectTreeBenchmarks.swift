import Benchmark
import BluetoothDBus
import CHeap

/// The mirror of BlueZ's objects with ten thousand devices.
let benchmarks: @Sendable () -> Void = {
    let count = 10_000
    let memory = BenchmarkMetric.custom("Heap bytes / device")
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal], warmupIterations: 1, maxDuration: .seconds(3))

    var configuration = Benchmark.defaultConfiguration
    configuration.metrics += [memory]
    Benchmark("10,000 devices: snapshot", configuration: configuration) { benchmark in
        let objects = Devices.snapshot(count)
        let before = heap_bytes_in_use()
        benchmark.startMeasurement()
        var tree = ObjectTree()
        let changes = tree.replace(with: objects)
        benchmark.stopMeasurement()
        precondition(changes.count == count + 1 && tree.devices.count == count)
        benchmark.measurement(memory, (Int(heap_bytes_in_use()) - Int(before)) / count)
        // Alive until here, so that only the tree and its changes are counted.
        blackHole(objects)
        blackHole(changes)
        blackHole(tree)
    }

    Benchmark("10,000 devices: one change of signal strength each") { benchmark in
        var tree = ObjectTree()
        _ = tree.replace(with: Devices.snapshot(count))
        let paths = (0..<count).compactMap(Devices.path)
        benchmark.startMeasurement()
        var changes = 0
        for (number, path) in paths.enumerated() {
            let values: [String: DBusValue] = ["RSSI": .variant(.int16(Int16(-40 - number % 40)))]
            changes += tree.change(path, Device1.interface, values, removing: []).count
        }
        benchmark.stopMeasurement()
        precondition(changes == count)
    }

    Benchmark("10,000 devices: all removed") { benchmark in
        var tree = ObjectTree()
        _ = tree.replace(with: Devices.snapshot(count))
        benchmark.startMeasurement()
        let changes = tree.replace(with: [:])
        benchmark.stopMeasurement()
        precondition(changes.count == count + 1 && tree.devices.isEmpty)
    }
}

/// Objects as `GetManagedObjects` lists them.
enum Devices {
    static func path(_ number: Int) -> ObjectPath? {
        let digits = String(number + 0xC0_0000_000000, radix: 16, uppercase: true)
        let octets = stride(from: 0, to: 12, by: 2).map { String(digits.dropFirst($0).prefix(2)) }
        return ObjectPath("/org/bluez/hci0/dev_" + octets.joined(separator: "_"))
    }

    static func snapshot(_ count: Int) -> [ObjectPath: ObjectTree.Interfaces] {
        var objects: [ObjectPath: ObjectTree.Interfaces] = [:]
        if let adapter = ObjectPath("/org/bluez/hci0") {
            objects[adapter] = [
                Adapter1.interface: [
                    "Address": .variant(.string("00:11:22:33:44:55")), "Powered": .variant(.boolean(true)),
                ]
            ]
            for number in 0..<count {
                if let path = path(number) { objects[path] = [Device1.interface: device(number, adapter)] }
            }
        }
        return objects
    }

    private static func device(_ number: Int, _ adapter: ObjectPath) -> [String: DBusValue] {
        let address = path(number)?.lastElement.dropFirst(4).map { $0 == "_" ? ":" : $0 } ?? []
        return [
            "Address": .variant(.string(String(address))), "AddressType": .variant(.string("random")),
            "Name": .variant(.string("Device \(number)")), "Alias": .variant(.string("Device \(number)")),
            "Adapter": .variant(.objectPath(adapter)), "Paired": .variant(.boolean(false)),
            "Connected": .variant(.boolean(false)), "ServicesResolved": .variant(.boolean(false)),
            "RSSI": .variant(.int16(-30)), "UUIDs": .variant(.strings(["0000180d-0000-1000-8000-00805f9b34fb"])),
            "TxPower": .variant(.int16(4)),
        ]
    }
}
