// swift-tools-version: 6.2
import PackageDescription

let coreBluetooth = Target.Dependency.product(name: "CoreBluetooth", package: "swift-corebluetooth")
let asyncBluetooth = Target.Dependency.product(name: "AsyncBluetooth", package: "swift-corebluetooth")

let package = Package(
    name: "pet-feeder",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../swift-corebluetooth")],
    targets: [
        .target(name: "PetFeeder", dependencies: [coreBluetooth, asyncBluetooth]),
        .target(
            name: "EmulatedFeeder", dependencies: [.product(name: "BluetoothEmulator", package: "swift-corebluetooth")]),
        .testTarget(
            name: "PetFeederTests",
            dependencies: [
                "PetFeeder", "EmulatedFeeder",
                .product(name: "CoreBluetoothTesting", package: "swift-corebluetooth"),
            ]),
    ]
)
