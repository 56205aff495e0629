// swift-tools-version: 6.2
import PackageDescription

/// The only product that an app needs; on Apple's platforms it re-exports Apple's framework.
let coreBluetooth = Target.Dependency.product(name: "CoreBluetooth", package: "swift-corebluetooth")
/// The product for descriptions of devices, which the emulated board uses, and no app.
let emulator = Target.Dependency.product(name: "BluetoothEmulator", package: "swift-corebluetooth")

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-corebluetooth", path: "..")],
    targets: [
        .executableTarget(name: "HeartRateClient", dependencies: [coreBluetooth]),
        .executableTarget(
            name: "AsyncHeartRate",
            dependencies: [
                coreBluetooth, .product(name: "AsyncBluetooth", package: "swift-corebluetooth"),
                .product(name: "BluetoothProfiles", package: "swift-corebluetooth"),
            ]),
        .target(
            name: "RestingHeartRate",
            dependencies: [
                coreBluetooth, .product(name: "AsyncBluetooth", package: "swift-corebluetooth"),
                .product(name: "BluetoothProfiles", package: "swift-corebluetooth"),
            ]),
        .executableTarget(name: "Gateway", dependencies: [coreBluetooth]),
        .executableTarget(
            name: "RemoteAdapters",
            dependencies: [
                coreBluetooth, .product(name: "AsyncBluetooth", package: "swift-corebluetooth"),
                .product(name: "BlueZ", package: "swift-corebluetooth"),
            ]),
        .target(name: "Blinky", dependencies: [coreBluetooth]),
        .executableTarget(name: "BlinkyRemote", dependencies: ["Blinky"]),
        .target(name: "EmulatedBlinky", dependencies: [emulator]),
        .testTarget(name: "ProgramTests", dependencies: ["AsyncHeartRate"]),
        .testTarget(
            name: "BlinkyTests",
            dependencies: [
                "Blinky", "EmulatedBlinky", coreBluetooth,
                .product(name: "CoreBluetoothTesting", package: "swift-corebluetooth"),
            ]),
        .testTarget(
            name: "RestingHeartRateTests",
            dependencies: [
                "RestingHeartRate", .product(name: "AsyncBluetooth", package: "swift-corebluetooth"),
                .product(name: "CoreBluetoothTesting", package: "swift-corebluetooth"),
            ]),
    ]
)
