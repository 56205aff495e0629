// swift-tools-version: 6.2
import PackageDescription

func product(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-corebluetooth")
}

let package = Package(
    name: "CoreBluetoothEmulator",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "CoreBluetoothEmulator", targets: ["CoreBluetoothEmulator"])
    ],
    dependencies: [
        .package(name: "swift-corebluetooth", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        // Swift 5, like its clients: their delegates and closures are not Sendable.
        .target(
            name: "CoreBluetoothEmulator",
            dependencies: [
                product("BluetoothBackend"), product("BluetoothEmulator"), product("CoreBluetooth"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "CoreBluetoothEmulatorTests",
            dependencies: [
                "CoreBluetoothEmulator", product("CoreBluetooth"), product("CoreBluetoothTesting"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "CoreBluetoothEmulatorSwift6ClientTests",
            dependencies: ["CoreBluetoothEmulator", product("CoreBluetooth"), product("CoreBluetoothTesting")]),
    ]
)
