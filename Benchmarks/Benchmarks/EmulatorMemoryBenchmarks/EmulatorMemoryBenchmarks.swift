import Benchmark
import BluetoothBackend
import BluetoothEmulator
import CHeap

/// The memory of an idle device, and a snapshot of a world with ten thousand of them.
let benchmarks: @Sendable () -> Void = {
    let count = 10_000
    let memory = BenchmarkMetric.custom("Heap bytes / device")
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal], warmupIterations: 1, maxDuration: .seconds(3))
    var configuration = Benchmark.defaultConfiguration
    configuration.metrics += [memory]
    let devices: [(String, PeripheralDescription)] = [
        ("of one service", Worlds.plain),
        ("with the services of a heart rate monitor", BuiltInHandler.heartRate.device),
    ]

    for (name, description) in devices {
        Benchmark("10,000 idle devices \(name)", configuration: configuration) { benchmark in
            let emulator = Emulator(time: .virtual)
            let before = heap_bytes_in_use()
            benchmark.startMeasurement()
            try Worlds.fill(emulator, with: description, count: count)
            try await emulator.runUntilIdle()
            benchmark.stopMeasurement()
            benchmark.measurement(memory, (Int(heap_bytes_in_use()) - Int(before)) / count)
            precondition(emulator.devices.count == count)
        }
    }

    Benchmark("10,000 devices: snapshot") { benchmark in
        let emulator = Emulator(time: .virtual)
        try Worlds.fill(emulator, with: Worlds.plain, count: count)
        try await emulator.runUntilIdle()
        benchmark.startMeasurement()
        let snapshot = try emulator.snapshot()
        benchmark.stopMeasurement()
        blackHole(snapshot)
    }

    Benchmark("10,000 devices: a restored world and the first change in it") { benchmark in
        let emulator = Emulator(time: .virtual)
        try Worlds.fill(emulator, with: Worlds.plain, count: count)
        try await emulator.runUntilIdle()
        let snapshot = try emulator.snapshot()
        benchmark.startMeasurement()
        let restored = Emulator(restoring: snapshot)
        restored.devices.first?.setRSSI(-40)
        try await restored.runUntilIdle()
        benchmark.stopMeasurement()
        blackHole(restored)
    }
}

/// Worlds of equal devices.
enum Worlds {
    static let plain = PeripheralDescription(
        name: "Device", advertising: [AdvertisingDescription(AdvertisingData(localName: "Device"))],
        services: [
            ServiceDescription("180F", characteristics: [CharacteristicDescription("2A19", [.read, .notify])])
        ])

    static func fill(_ emulator: Emulator, with description: PeripheralDescription, count: Int) throws {
        for number in 0..<count {
            var device = description
            device.address = DeviceAddress(bits: 0xC000_0000_0000 + UInt64(number))
            try emulator.add(device)
        }
    }
}
