// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let benchmark = Target.Dependency.product(name: "Benchmark", package: "benchmark")
let benchmarkPlugin = Target.PluginUsage.plugin(name: "BenchmarkPlugin", package: "benchmark")
let root = "swift-corebluetooth"

/// `make bench` runs them all; `swift package -c release benchmark --target EmulatorBenchmarks` here runs some.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: root, path: ".."),
        .package(path: "../Migration/CoreBluetoothMock"),
        .package(path: "../Migration/CoreBluetoothEmulator"),
        // Without its interposers, which count allocations and reference counting that no benchmark here measures.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .systemLibrary(
            name: "CBenchmarkDBus", path: "Modulemaps/CBenchmarkDBus", pkgConfig: "dbus-1",
            providers: [.apt(["libdbus-1-dev"])]),
        // The bus, the service and the C client with which the D-Bus client is compared.
        .target(name: "CBusClient", dependencies: ["CBenchmarkDBus"]),
        .target(name: "CHeap"),
        .executableTarget(
            name: "EmulatorBenchmarks",
            dependencies: [
                benchmark, .product(name: "CoreBluetooth", package: root),
                .product(name: "BluetoothEmulator", package: root), .product(name: "BluetoothBackend", package: root),
            ],
            path: "Benchmarks/EmulatorBenchmarks", swiftSettings: settings, plugins: [benchmarkPlugin]),
        // Contains the delegates' client of the emulator's benchmarks, linked here, for comparison.
        .executableTarget(
            name: "AsyncBenchmarks",
            dependencies: [
                benchmark, .product(name: "AsyncBluetooth", package: root),
                .product(name: "CoreBluetooth", package: root), .product(name: "BluetoothEmulator", package: root),
                .product(name: "BluetoothBackend", package: root),
            ],
            path: "Benchmarks/AsyncBenchmarks", swiftSettings: settings, plugins: [benchmarkPlugin]),
        // The same work through the migration modules, with the emulator's client for comparison.
        .executableTarget(
            name: "MigrationBenchmarks",
            dependencies: [
                benchmark, .product(name: "CoreBluetooth", package: root),
                .product(name: "BluetoothEmulator", package: root), .product(name: "BluetoothBackend", package: root),
                .product(name: "CoreBluetoothMock", package: "CoreBluetoothMock"),
                .product(name: "CoreBluetoothEmulator", package: "CoreBluetoothEmulator"),
            ],
            path: "Benchmarks/MigrationBenchmarks", swiftSettings: settings, plugins: [benchmarkPlugin]),
        // Separate from the others, as counting the heap requires a single arena.
        .executableTarget(
            name: "EmulatorMemoryBenchmarks",
            dependencies: [
                benchmark, "CHeap", .product(name: "BluetoothEmulator", package: root),
                .product(name: "BluetoothBackend", package: root),
            ],
            path: "Benchmarks/EmulatorMemoryBenchmarks", swiftSettings: settings, plugins: [benchmarkPlugin]),
        .executableTarget(
            name: "DBusBenchmarks",
            dependencies: [benchmark, "CBusClient", .product(name: "_BluetoothDBus", package: root)],
            path: "Benchmarks/DBusBenchmarks", swiftSettings: settings, plugins: [benchmarkPlugin]),
        // An app over a scripted BlueZ, with the same client in C for comparison.
        .executableTarget(
            name: "BlueZBenchmarks",
            dependencies: [
                benchmark, "CBusClient", .product(name: "CoreBluetooth", package: root),
                .product(name: "BlueZ", package: root),
            ],
            path: "Benchmarks/BlueZBenchmarks", exclude: ["bleak_client.py"], swiftSettings: settings,
            plugins: [benchmarkPlugin]),
        // Whole jobs, each pass a process of its own; on BlueZ under `bluectl world run`, with bleak's for comparison.
        .executableTarget(
            name: "Job",
            dependencies: [
                .product(name: "AsyncBluetooth", package: root), .product(name: "CoreBluetooth", package: root),
                .product(name: "BluetoothEmulator", package: root),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "JobBenchmarks", dependencies: [benchmark], path: "Benchmarks/JobBenchmarks",
            exclude: ["bleak_job.py", "fifty-devices.json"], swiftSettings: settings, plugins: [benchmarkPlugin]),
        // The object model is not public API: its sources, linked here, are compiled as a part of the benchmark.
        .executableTarget(
            name: "ObjectModelBenchmarks",
            dependencies: [
                benchmark, "CHeap", .product(name: "_BluetoothDBus", package: root),
                .product(name: "BluetoothBackend", package: root),
            ],
            path: "Benchmarks/ObjectModelBenchmarks", swiftSettings: settings, plugins: [benchmarkPlugin]),
    ]
)
