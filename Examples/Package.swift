// swift-tools-version: 6.2
import PackageDescription

/// The only product that an app needs; on Apple's platforms it re-exports Apple's framework.
let coreBluetooth = Target.Dependency.product(name: "CoreBluetooth", package: "swift-corebluetooth")
/// The product for descriptions of devices, which the emulated board uses, and no app.
let emulator = Target.Dependency.product(name: "BluetoothEmulator", package: "swift-corebluetooth")

/// The products for code with `async` and `await`, and for typed values of the standard services.
let asyncBluetooth = Target.Dependency.product(name: "AsyncBluetooth", package: "swift-corebluetooth")
let profiles = Target.Dependency.product(name: "BluetoothProfiles", package: "swift-corebluetooth")
/// The product for tests in virtual time.
let testing = Target.Dependency.product(name: "CoreBluetoothTesting", package: "swift-corebluetooth")

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-corebluetooth", path: "..")],
    targets: [
        .executableTarget(name: "HeartRateClient", dependencies: [coreBluetooth]),
        .executableTarget(name: "AsyncHeartRate", dependencies: [coreBluetooth, asyncBluetooth, profiles]),
        .target(name: "RestingHeartRate", dependencies: [coreBluetooth, asyncBluetooth, profiles]),
        .executableTarget(name: "Gateway", dependencies: [coreBluetooth]),
        .executableTarget(name: "ThermometerGateway", dependencies: [coreBluetooth, asyncBluetooth, profiles]),
        .executableTarget(name: "PiThermometer", dependencies: [coreBluetooth, asyncBluetooth]),
        .target(name: "EmulatedLock", dependencies: [emulator]),
        .executableTarget(name: "LockDemo", dependencies: ["EmulatedLock", coreBluetooth, asyncBluetooth, emulator]),
        .executableTarget(
            name: "RemoteAdapters",
            dependencies: [
                coreBluetooth, asyncBluetooth, .product(name: "BlueZ", package: "swift-corebluetooth"),
            ]),
        .target(name: "Blinky", dependencies: [coreBluetooth]),
        .executableTarget(name: "BlinkyRemote", dependencies: ["Blinky"]),
        .target(name: "EmulatedBlinky", dependencies: [emulator]),
        .target(name: "PetFeeder", dependencies: [coreBluetooth, asyncBluetooth]),
        .target(name: "HastyPetFeeder", dependencies: [coreBluetooth, asyncBluetooth]),
        .target(name: "EmulatedFeeder", dependencies: [emulator]),
        .testTarget(name: "ProgramTests", dependencies: ["AsyncHeartRate", emulator]),
        .testTarget(name: "BlinkyTests", dependencies: ["Blinky", "EmulatedBlinky", coreBluetooth, testing]),
        .testTarget(
            name: "EmulatedLockTests", dependencies: ["EmulatedLock", coreBluetooth, asyncBluetooth, testing]),
        .testTarget(name: "PetFeederTests", dependencies: ["PetFeeder", "HastyPetFeeder", "EmulatedFeeder", testing]),
        .testTarget(name: "RestingHeartRateTests", dependencies: ["RestingHeartRate", asyncBluetooth, testing]),
    ]
)
