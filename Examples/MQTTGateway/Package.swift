// swift-tools-version: 6.2
import PackageDescription

/// The settings of the library's package.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The settings of a program that takes less memory: lld packs the relocations and omits the exported symbols, which are
/// otherwise resident, 4 MiB.
let compact: [LinkerSetting] = [
    .unsafeFlags(
        ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--no-export-dynamic"],
        .when(platforms: [.linux], configuration: .release))
]

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// A product of the library.
func library(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-corebluetooth") }

let package = Package(
    name: "mqtt-gateway",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-corebluetooth", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", "5.0.1"..<"7.0.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", .upToNextMinor(from: "0.27.1")),
    ],
    targets: [
        .systemLibrary(
            name: "CMosquitto", path: "Modulemaps/CMosquitto", pkgConfig: "libmosquitto",
            providers: [.apt(["libmosquitto-dev"])]),
        // An MQTT client, independent of Bluetooth.
        .target(name: "Mosquitto", dependencies: ["CMosquitto"], swiftSettings: settings),
        // Everything except the command line.
        .target(
            name: "GatewayCore",
            dependencies: [
                "Mosquitto", library("AsyncBluetooth"), library("BluetoothProfiles"), library("CoreBluetooth"), logging,
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Yams", package: "Yams"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "mqtt-gateway",
            dependencies: [
                "GatewayCore", logging, .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings, linkerSettings: compact),

        // MARK: Tests
        // Emulated devices whose values are numbered, and a count of those that were sent.
        .target(name: "GatewaySimulation", dependencies: [library("BluetoothEmulator")], swiftSettings: settings),
        .executableTarget(
            name: "gateway-scale",
            dependencies: [
                "GatewayCore", "GatewaySimulation", "Mosquitto", library("AsyncBluetooth"),
                library("BluetoothEmulator"), library("CoreBluetooth"), logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MQTTGatewayTests",
            dependencies: [
                "GatewayCore", "GatewaySimulation", "Mosquitto", "gateway-scale", "mqtt-gateway",
                library("AsyncBluetooth"), library("BluetoothEmulator"), library("CoreBluetooth"), logging,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
    ]
)
