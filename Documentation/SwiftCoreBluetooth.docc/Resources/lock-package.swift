// swift-tools-version: 6.2
import PackageDescription

let coreBluetooth = Target.Dependency.product(name: "CoreBluetooth", package: "swift-corebluetooth")
let asyncBluetooth = Target.Dependency.product(name: "AsyncBluetooth", package: "swift-corebluetooth")
let emulator = Target.Dependency.product(name: "BluetoothEmulator", package: "swift-corebluetooth")

let package = Package(
    name: "lock",
    dependencies: [.package(path: "../swift-corebluetooth")],
    targets: [
        .target(name: "EmulatedLock", dependencies: [emulator]),
        .executableTarget(name: "LockDemo", dependencies: ["EmulatedLock", coreBluetooth, asyncBluetooth, emulator]),
        .testTarget(
            name: "EmulatedLockTests",
            dependencies: [
                "EmulatedLock", coreBluetooth, asyncBluetooth,
                .product(name: "CoreBluetoothTesting", package: "swift-corebluetooth"),
            ]),
    ]
)
