// swift-tools-version: 6.2
import PackageDescription

/// The names and signatures of CoreBluetooth Mock, for the app as it was written for the original.
let mock = Target.Dependency.product(name: "CoreBluetoothMock", package: "IOS-CoreBluetooth-Mock")
/// The only product of the app without the module.
let coreBluetooth = Target.Dependency.product(name: "CoreBluetooth", package: "swift-corebluetooth")
/// The trait `.emulator(…)`, for tests alone.
let testing = Target.Dependency.product(name: "CoreBluetoothTesting", package: "swift-corebluetooth")

let package = Package(
    name: "MigrationExamples",
    platforms: [.macOS(.v15)],
    dependencies: [
        // The original's name, so that the rest of a manifest stays unchanged.
        .package(name: "IOS-CoreBluetooth-Mock", path: "../CoreBluetoothMock"),
        .package(name: "swift-corebluetooth", path: "../.."),
    ],
    targets: [
        // The app with the module: one file of aliases, and the folder App.
        .target(name: "PlantSensor", dependencies: [mock]),
        // The peripherals that the tests and the program simulate.
        .target(name: "SimulatedSensors", dependencies: [mock]),
        .executableTarget(name: "plant-sensor", dependencies: ["PlantSensor", "SimulatedSensors"]),
        .testTarget(
            name: "PlantSensorTests", dependencies: ["PlantSensor", "SimulatedSensors", mock, testing]),

        // The same app without the module: the folder App is a link to that of PlantSensor.
        .target(name: "PlantSensorNative", dependencies: [coreBluetooth]),
        .executableTarget(name: "plant-sensor-native", dependencies: ["PlantSensorNative"]),
        .testTarget(
            name: "PlantSensorNativeTests", dependencies: ["PlantSensorNative", coreBluetooth, testing]),
    ],
    // The mode of the original's users, whose delegates and closures are not Sendable.
    swiftLanguageModes: [.v5]
)
