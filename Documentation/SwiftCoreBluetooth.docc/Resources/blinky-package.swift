// swift-tools-version: 6.2
import PackageDescription

let coreBluetooth = Target.Dependency.product(name: "CoreBluetooth", package: "swift-corebluetooth")

let package = Package(
    name: "blinky",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../swift-corebluetooth")],
    targets: [
        .target(name: "Blinky", dependencies: [coreBluetooth]),
        .target(
            name: "EmulatedBlinky", dependencies: [.product(name: "BluetoothEmulator", package: "swift-corebluetooth")]),
        .testTarget(
            name: "BlinkyTests",
            dependencies: [
                "Blinky", "EmulatedBlinky", coreBluetooth,
                .product(name: "CoreBluetoothTesting", package: "swift-corebluetooth"),
            ]),
    ]
)
