// swift-tools-version: 6.2
import PackageDescription

let root = "swift-corebluetooth"

let package = Package(
    name: "CoreBluetoothMock",
    platforms: [.macOS(.v15)],
    products: [.library(name: "CoreBluetoothMock", targets: ["CoreBluetoothMock"])],
    dependencies: [.package(name: "swift-corebluetooth", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0")],
    targets: [
        .target(
            name: "CoreBluetoothMock",
            dependencies: [
                .product(name: "CoreBluetooth", package: root),
                .product(name: "BluetoothBackend", package: root),
                .product(name: "BluetoothEmulator", package: root),
                .product(name: "CoreBluetoothTesting", package: root),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]),
    ]
)
