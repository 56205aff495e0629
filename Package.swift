// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target: Swift 6 language mode (by the tools version) and three upcoming features.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let whenBlueZ = TargetDependencyCondition.when(platforms: [.linux], traits: ["BlueZ"])
let whenEmulator = TargetDependencyCondition.when(traits: ["Emulator"])
let whenEmulatorOnLinux = TargetDependencyCondition.when(platforms: [.linux], traits: ["Emulator"])
/// Apple's platforms have Apple's classes.
let onLinux = TargetDependencyCondition.when(platforms: [.linux])

// A product and a target list what the modules that they use re-export, and `Scripts/check-edges` checks it: a program is not
// compiled again for a change of a module that it gets from another one, and then calls methods at their former places
// (https://github.com/swiftlang/swift/issues/89636).
#if os(Linux)
let coreBluetooth = ["CoreBluetooth", "CoreBluetoothClasses"]
#else
let coreBluetooth = ["CoreBluetooth"]
#endif
let bluetoothEmulator = ["BluetoothEmulator", "BluetoothBackend", "BluetoothTracing", "BluetoothValues"]

let package = Package(
    name: "swift-corebluetooth",
    // The first with Synchronization and task executors.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "CoreBluetooth", targets: coreBluetooth),
        .library(name: "BluetoothBackend", targets: ["BluetoothBackend"]),
        .library(name: "BluetoothInstrumentation", targets: ["BluetoothInstrumentation", "BluetoothTracing"]),
        .library(name: "TraceReports", targets: ["TraceReports"]),
        .library(name: "BluetoothEmulator", targets: bluetoothEmulator + ["BluetoothCapture"]),
        .library(name: "BlueZ", targets: ["BlueZ"]),
        .library(name: "EmulatedBlueZ", targets: ["EmulatedBlueZ"]),
        .library(name: "BluetoothProfiles", targets: ["BluetoothProfiles", "BluetoothValues"]),
        .library(name: "AsyncBluetooth", targets: ["AsyncBluetooth"]),
        .library(
            name: "CoreBluetoothTesting",
            targets: ["CoreBluetoothTesting", "BluetoothCapture", "TraceReports"] + bluetoothEmulator),
        // For the benchmarks' package; no public API.
        .library(name: "_BluetoothDBus", targets: ["BluetoothDBus"]),
        // bluectl is not listed: SwiftPM resolves for a dependant what the listed products need, and nothing else. In this
        // package, `swift run bluectl` works without.
    ],
    traits: [
        .trait(name: "BlueZ", description: "Real adapters, through BlueZ. Off: libdbus is not loaded."),
        .trait(name: "Emulator", description: "The emulator. Off: production binaries contain none of it."),
        .default(enabledTraits: ["BlueZ", "Emulator"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        // Of bluectl alone.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/jpsim/Yams", "5.0.1"..<"7.0.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", .upToNextMinor(from: "0.27.1")),
        // Of EmulatedHCI alone.
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // MARK: C declarations of the system, without a library: a product needs no header and no flag of pkg-config. One file
        // a module imports them, for its implementation alone (see LibDBus).
        .systemLibrary(name: "CBluetoothDBus", path: "Modulemaps/CBluetoothDBus"),
        .systemLibrary(name: "CBluetoothKernel", path: "Modulemaps/CBluetoothKernel"),

        // MARK: C libraries, for tests alone
        .systemLibrary(
            name: "CLibDBus", path: "Modulemaps/CLibDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(
            name: "CBluetoothGIO", path: "Modulemaps/CBluetoothGIO", pkgConfig: "gio-unix-2.0",
            providers: [.apt(["libglib2.0-dev"])]),

        // MARK: Library
        // Below all others: the lock, the system clock, the seeded generator, hexadecimal text and the lines of logs, one of each.
        .target(
            name: "BluetoothSupport",
            dependencies: [.target(name: "CBluetoothKernel", condition: onLinux), logging],
            path: "Sources/Protocol/BluetoothSupport", swiftSettings: settings),
        // A leaf: values of the specifications, the tables of assigned numbers among them, and simulated sensors.
        .target(
            name: "BluetoothValues", path: "Sources/Protocol/BluetoothValues",
            swiftSettings: settings),
        .target(
            name: "BluetoothBackend", dependencies: ["BluetoothSupport"], path: "Sources/Protocol/BluetoothBackend",
            swiftSettings: settings),
        // The lines of traces, and the wrapper around any backend that records them.
        .target(
            name: "BluetoothTracing",
            dependencies: ["BluetoothBackend", "BluetoothSupport", "BluetoothValues", logging],
            path: "Sources/Protocol/BluetoothTracing",
            swiftSettings: settings),
        // The Host Controller Interface: its packets, and the controller as a state machine.
        .target(
            name: "BluetoothHCI", dependencies: ["BluetoothBackend", "BluetoothSupport"],
            path: "Sources/Protocol/BluetoothHCI", swiftSettings: settings),
        // Timelines of traces, as pages and files. No app needs it: no module below the clients of Apple's API sees it.
        .target(
            name: "TraceReports", dependencies: ["BluetoothBackend", "BluetoothSupport", "BluetoothTracing"],
            path: "Sources/Observing/TraceReports",
            resources: [
                .embedInCode("Page/report.css"), .embedInCode("Page/report.html"), .embedInCode("Page/report.js"),
            ],
            swiftSettings: settings),
        // Faults: a wrapper around any backend.
        .target(
            name: "BluetoothInstrumentation",
            dependencies: ["BluetoothBackend", "BluetoothSupport", "BluetoothTracing", logging],
            path: "Sources/Protocol/BluetoothInstrumentation",
            swiftSettings: settings),
        .target(
            name: "BluetoothEmulator",
            dependencies: [
                "BluetoothBackend", "BluetoothSupport", "BluetoothTracing", "BluetoothValues", logging,
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            path: "Sources/Backends/BluetoothEmulator",
            swiftSettings: settings),
        // The files of captures, and the packets on the air of an emulator.
        .target(
            name: "BluetoothCapture",
            dependencies: [
                "BluetoothBackend", "BluetoothEmulator", "BluetoothHCI", "BluetoothSupport", "BluetoothTracing",
                "BluetoothValues", logging,
            ],
            path: "Sources/Observing/BluetoothCapture",
            swiftSettings: settings),
        .target(
            name: "BluetoothDBus",
            dependencies: [
                .target(name: "CBluetoothDBus", condition: onLinux),
                .target(name: "CBluetoothKernel", condition: onLinux), "BluetoothSupport", logging,
            ],
            path: "Sources/Backends/BluetoothDBus",
            swiftSettings: settings),
        .target(
            name: "BlueZ",
            dependencies: [
                .target(name: "CBluetoothKernel", condition: onLinux), "BluetoothBackend", "BluetoothDBus",
                "BluetoothSupport", "BluetoothValues", logging,
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Sources/Backends/BlueZ",
            swiftSettings: settings),
        // Devices of any backend, as recordings.
        .target(
            name: "BluetoothRecording",
            dependencies: [
                "BluetoothBackend", "BluetoothCapture", "BluetoothEmulator", "BluetoothHCI", "BluetoothSupport",
                "BluetoothTracing", "BluetoothValues", logging,
            ],
            path: "Sources/Observing/BluetoothRecording",
            swiftSettings: settings),
        // An emulated world as the service `org.bluez`, for programs in other processes.
        .target(
            name: "EmulatedBlueZ",
            dependencies: [
                "BluetoothBackend", "BluetoothCapture", "BluetoothDBus", "BluetoothEmulator", "BluetoothSupport",
                "BluetoothTracing", "BluetoothValues", logging,
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Sources/Tools/EmulatedBlueZ",
            swiftSettings: settings),
        .target(
            name: "CoreBluetoothClasses",
            dependencies: [
                "BluetoothBackend", "BluetoothSupport", "BluetoothTracing", "BluetoothValues", logging,
                .target(name: "BluetoothCapture", condition: whenEmulator),
                .target(name: "BluetoothEmulator", condition: whenEmulator),
                .target(name: "BluetoothInstrumentation", condition: whenEmulator),
                .target(name: "BluetoothRecording", condition: whenEmulator),
                .target(name: "BlueZ", condition: whenBlueZ),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Sources/API/CoreBluetoothClasses",
            swiftSettings: settings),
        .target(
            name: "CoreBluetooth", dependencies: [.target(name: "CoreBluetoothClasses", condition: onLinux)],
            path: "Sources/API/CoreBluetooth",
            swiftSettings: settings),

        // Typed values of the standard services, their clients and servers.
        .target(
            name: "BluetoothProfiles",
            dependencies: [
                "AsyncBluetooth", "BluetoothSupport", "BluetoothValues", "CoreBluetooth",
                .target(name: "CoreBluetoothClasses", condition: onLinux),
            ],
            path: "Sources/API/BluetoothProfiles",
            swiftSettings: settings),
        .target(
            name: "AsyncBluetooth",
            dependencies: [
                "CoreBluetooth", "BluetoothSupport", logging,
                .target(name: "CoreBluetoothClasses", condition: onLinux),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Sources/API/AsyncBluetooth",
            swiftSettings: settings),

        // For test targets alone: the only one that imports Testing and XCTest.
        .target(
            name: "CoreBluetoothTesting",
            dependencies: [
                "CoreBluetoothClasses", "BluetoothBackend", "BluetoothCapture", "BluetoothEmulator",
                "BluetoothInstrumentation", "BluetoothSupport", "BluetoothTracing", "BluetoothValues", "TraceReports",
            ],
            path: "Sources/API/CoreBluetoothTesting",
            swiftSettings: settings),

        // MARK: Tools
        // An emulated world as controllers of HCI, for Bluetooth stacks and firmware in other processes.
        .target(
            name: "EmulatedHCI",
            dependencies: [
                .target(name: "CBluetoothKernel", condition: onLinux), "BluetoothBackend", "BluetoothCapture",
                "BluetoothEmulator", "BluetoothHCI", "BluetoothSupport",
                "BluetoothTracing", "BluetoothValues", logging,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Sources/Tools/EmulatedHCI",
            swiftSettings: settings),
        // A served world that people and programs look at and steer.
        .target(
            name: "LiveView",
            dependencies: [
                "BluetoothBackend", "BluetoothCapture", "BluetoothEmulator", "BluetoothSupport", "BluetoothTracing",
                "BluetoothValues", "TraceReports", logging,
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            path: "Sources/Tools/LiveView",
            resources: [
                .embedInCode("Page/index.html"), .embedInCode("Page/view.css"), .embedInCode("Page/inspector.css"),
                .embedInCode("Page/camera.js"), .embedInCode("Page/connection.js"), .embedInCode("Page/devices.js"),
                .embedInCode("Page/drawing.js"), .embedInCode("Page/effects.js"), .embedInCode("Page/guide.js"),
                .embedInCode("Page/head.js"), .embedInCode("Page/inspector.js"), .embedInCode("Page/log.js"),
                .embedInCode("Page/map.js"), .embedInCode("Page/mapinput.js"), .embedInCode("Page/marks.js"),
                .embedInCode("Page/memory.js"), .embedInCode("Page/names.js"), .embedInCode("Page/nodes.js"),
                .embedInCode("Page/packets.js"), .embedInCode("Page/paint.js"), .embedInCode("Page/past.js"),
                .embedInCode("Page/playhead.js"), .embedInCode("Page/pointing.js"), .embedInCode("Page/problems.js"),
                .embedInCode("Page/scene.js"), .embedInCode("Page/search.js"), .embedInCode("Page/selection.js"),
                .embedInCode("Page/strength.js"), .embedInCode("Page/strip.js"), .embedInCode("Page/theme.js"),
                .embedInCode("Page/view.js"), .embedInCode("Page/world.js"), .embedInCode("Page/view.svg"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "bluectl",
            dependencies: [
                "AsyncBluetooth", "BluetoothBackend", "BluetoothProfiles", "BluetoothSupport", "BluetoothTracing",
                "BluetoothValues", "CoreBluetoothClasses", "TraceReports", logging,
                .target(name: "BluetoothCapture", condition: whenEmulator),
                .target(name: "BluetoothEmulator", condition: whenEmulator),
                .target(name: "BluetoothRecording", condition: whenEmulator),
                .target(name: "BlueZ", condition: whenBlueZ),
                .target(name: "BluetoothDBus", condition: whenBlueZ),
                .target(name: "EmulatedBlueZ", condition: whenEmulatorOnLinux),
                .target(name: "EmulatedHCI", condition: whenEmulatorOnLinux),
                .target(name: "LiveView", condition: whenEmulatorOnLinux),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Sources/Tools/bluectl",
            // What `bluectl world schema` prints.
            resources: [.embedInCode("World/world.schema.json")],
            swiftSettings: settings),

        // MARK: Tests
        .testTarget(name: "BluetoothValuesTests", dependencies: ["BluetoothValues"], swiftSettings: settings),
        .testTarget(
            name: "BluetoothBackendTests",
            dependencies: [
                "BluetoothBackend", "BluetoothInstrumentation", "BluetoothSupport", "BluetoothTracing", "LogCapture",
                "TraceReports", logging,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "BlockingMain", dependencies: ["CoreBluetooth", "CoreBluetoothClasses"],
            path: "Tests/MainQueueHosts/BlockingMain", swiftSettings: settings),
        .executableTarget(
            name: "AsyncMain", dependencies: ["CoreBluetooth", "CoreBluetoothClasses"],
            path: "Tests/MainQueueHosts/AsyncMain", swiftSettings: settings),
        .executableTarget(
            name: "ChannelMain",
            dependencies: ["CoreBluetooth", "CoreBluetoothClasses", "BluetoothBackend", "BluetoothSupport"],
            path: "Tests/MainQueueHosts/ChannelMain", swiftSettings: settings),
        // Killed and run again, on BlueZ alone: Tests/RealBlueZ/restoration-test.
        .executableTarget(
            name: "RestoringMain", dependencies: ["CoreBluetooth", "CoreBluetoothClasses"],
            path: "Tests/RestoringMain", swiftSettings: settings),
        .testTarget(
            name: "CoreBluetoothClassesTests",
            dependencies: [
                "AsyncMain", "BlockingMain", "ChannelMain", "CoreBluetoothClasses", "BluetoothBackend",
                "BluetoothEmulator", "BluetoothSupport", "BluetoothTracing", "BluetoothValues", "ChildProcesses",
                "LogCapture", logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CoreBluetoothTestingTests",
            dependencies: [
                "AsyncBluetooth", "CoreBluetooth", "CoreBluetoothTesting", "BluetoothBackend", "BluetoothEmulator",
                "BluetoothInstrumentation", "BluetoothSupport", "BluetoothTracing", "ScriptedBlueZ",
                "BluetoothCapture", "BluetoothValues", "CoreBluetoothClasses", "TraceReports",
                .target(name: "BlueZ", condition: whenBlueZ),
                .target(name: "BluetoothDBus", condition: whenBlueZ),
                .target(name: "EmulatedBlueZ", condition: whenEmulatorOnLinux),
                .target(name: "EmulatedHCI", condition: whenEmulatorOnLinux),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AsyncBluetoothTests",
            dependencies: [
                "AsyncBluetooth", "BluetoothBackend", "BluetoothEmulator", "BluetoothSupport", "BluetoothTracing",
                "CoreBluetooth", "CoreBluetoothTesting", "LogCapture", "ScriptedBlueZ", logging,
                "BluetoothCapture", "BluetoothValues", "CoreBluetoothClasses", "TraceReports",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BluetoothHCITests", dependencies: ["BluetoothBackend", "BluetoothHCI", "BluetoothSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "BluetoothCaptureTests",
            dependencies: [
                "BluetoothBackend", "BluetoothCapture", "BluetoothHCI", "BluetoothSupport", "ChildProcesses",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BluetoothEmulatorTests",
            dependencies: [
                "BluetoothEmulator", "BluetoothBackend", "BluetoothCapture", "BluetoothHCI", "BluetoothSupport",
                "BluetoothTracing", "BluetoothValues", "ChildProcesses",
            ], swiftSettings: settings),
        .testTarget(
            name: "BluetoothRecordingTests",
            dependencies: [
                "AsyncBluetooth", "BluetoothRecording", "BluetoothBackend", "BluetoothEmulator", "BluetoothSupport",
                "BluetoothCapture", "BluetoothHCI", "BluetoothTracing", "BluetoothValues", "CoreBluetooth",
                "CoreBluetoothClasses", "CoreBluetoothTesting", "TraceReports",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LiveViewTests",
            dependencies: [
                "LiveView", "BluetoothBackend", "BluetoothEmulator", "BluetoothSupport",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
                "BluetoothTracing", "BluetoothValues",
            ],
            swiftSettings: settings),
        // Programs that tests start.
        .target(
            name: "ChildProcesses",
            dependencies: [.target(name: "CBluetoothKernel", condition: onLinux), "BluetoothSupport"],
            path: "Tests/ChildProcesses", swiftSettings: settings),
        .target(
            name: "ScriptedBlueZ",
            dependencies: [
                .target(name: "CBluetoothGIO", condition: onLinux),
                "BluetoothDBus", "BluetoothSupport", "ChildProcesses",
            ],
            path: "Tests/ScriptedBlueZ",
            swiftSettings: settings),
        // The declarations of CBluetoothDBus behind those of libdbus's header, so that the compiler compares them.
        .target(
            name: "DBusComparison", dependencies: [.target(name: "CLibDBus", condition: onLinux)],
            path: "Tests/DBusComparison"),
        .testTarget(
            name: "BluetoothDBusTests",
            dependencies: [
                .target(name: "DBusComparison", condition: onLinux),
                "BluetoothDBus", "BluetoothSupport", "ChildProcesses", "ScriptedBlueZ",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BlueZTests",
            dependencies: [
                "BlueZ", "BluetoothBackend", "BluetoothDBus",
                "BluetoothInstrumentation", "BluetoothSupport",
                "BluetoothTracing",
                "ChildProcesses",
                "CoreBluetoothClasses", "ScarceResources", "ScriptedBlueZ",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "EmulatedBlueZTests",
            dependencies: [
                "EmulatedBlueZ", "BluetoothBackend", "BluetoothDBus", "BluetoothEmulator", "BluetoothSupport",
                "ScriptedBlueZ",
                "BluetoothTracing", "BluetoothValues",
            ],
            swiftSettings: settings),
        // An app that a host outside of the emulator meets: Tests/Hosts.
        .executableTarget(
            name: "HostsApp",
            dependencies: [
                "AsyncBluetooth", "BluetoothBackend", "BluetoothEmulator", "BluetoothTracing", "BluetoothValues",
                "CoreBluetooth", "CoreBluetoothClasses", "EmulatedHCI",
            ],
            path: "Tests/Hosts/App", swiftSettings: settings),
        .testTarget(
            name: "EmulatedHCITests",
            dependencies: [
                "EmulatedHCI", "BluetoothBackend", "BluetoothCapture", "BluetoothEmulator", "BluetoothHCI",
                "BluetoothSupport", "BluetoothTracing", "BluetoothValues", "ChildProcesses", "ScriptedBlueZ",
            ],
            swiftSettings: settings),
        // A program that runs out of descriptors and threads, and C functions that fail when they are told to.
        .target(name: "FailingCalls", path: "Tests/FailingCalls"),
        .executableTarget(
            name: "ScarceResources", dependencies: ["BlueZ", "BluetoothBackend", "BluetoothSupport", "FailingCalls"],
            path: "Tests/ScarceResources", swiftSettings: settings),
        .testTarget(
            name: "BackendContractTests",
            dependencies: [
                "CoreBluetooth", "CoreBluetoothClasses", "BluetoothEmulator", "BluetoothBackend",
                "BluetoothInstrumentation", "BluetoothSupport", "BluetoothTracing",
                "AsyncBluetooth", "BluetoothProfiles", "ChildProcesses", "RandomPrograms", "ScriptedBlueZ",
                .target(name: "BlueZ", condition: whenBlueZ),
                .target(name: "BluetoothDBus", condition: whenBlueZ),
                .target(name: "EmulatedBlueZ", condition: whenEmulatorOnLinux),
                .target(name: "EmulatedHCI", condition: whenEmulatorOnLinux),
                "BluetoothValues",
            ],
            swiftSettings: settings),

        .testTarget(
            name: "BluetoothProfilesTests",
            dependencies: [
                "AsyncBluetooth", "BluetoothProfiles", "BluetoothBackend", "BluetoothEmulator", "BluetoothSupport",
                "CoreBluetooth", "CoreBluetoothTesting",
                "BluetoothCapture", "BluetoothTracing", "BluetoothValues", "CoreBluetoothClasses", "TraceReports",
            ], swiftSettings: settings),
        // What tests log, kept: logging is set up once in a process.
        .target(
            name: "LogCapture", dependencies: ["BluetoothSupport", logging], path: "Tests/LogCapture",
            swiftSettings: settings),

        .testTarget(
            name: "bluectlTests",
            dependencies: [
                "bluectl", "BluetoothBackend", "BluetoothInstrumentation", "BluetoothSupport", "BluetoothTracing",
                "ChildProcesses", "CoreBluetoothClasses", "ScriptedBlueZ",
                .target(name: "BluetoothEmulator", condition: whenEmulator),
                .target(name: "BlueZ", condition: whenBlueZ),
                .target(name: "BluetoothDBus", condition: whenBlueZ),
                "BluetoothValues",
            ],
            swiftSettings: settings),

        .target(
            name: "RandomPrograms",
            dependencies: [
                "CoreBluetooth", "BluetoothBackend", "BluetoothEmulator", "BluetoothSupport", "BluetoothTracing",
                "BluetoothValues", "CoreBluetoothClasses",
            ],
            path: "Tests/RandomPrograms", swiftSettings: settings),
        .executableTarget(
            name: "ProgramRunner", dependencies: ["RandomPrograms", logging], path: "Tests/ProgramRunner",
            swiftSettings: settings),
        .testTarget(
            name: "RandomProgramTests",
            dependencies: [
                "ProgramRunner", "RandomPrograms", "BluetoothBackend", "BluetoothInstrumentation", "BluetoothTracing",
                "ChildProcesses",
            ],
            swiftSettings: settings),

        // Clients as apps write them: they import CoreBluetooth alone, and are no part of this package to the compiler.
        .testTarget(
            name: "ClientSourcesSwift6", dependencies: ["CoreBluetooth", "CoreBluetoothClasses"], packageAccess: false),
        .testTarget(
            name: "ClientSourcesSwift5", dependencies: ["CoreBluetooth", "CoreBluetoothClasses"], packageAccess: false,
            swiftSettings: [.swiftLanguageMode(.v5)]),
    ]
)
