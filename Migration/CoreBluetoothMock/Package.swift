// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CoreBluetoothMock",
    platforms: [.macOS(.v15)],
    products: [.library(name: "CoreBluetoothMock", targets: ["CoreBluetoothMock"])],
    dependencies: [
        .package(name: "swift-corebluetooth", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        // The language mode of its clients, whose closures and delegates are not Sendable.
        .target(
            name: "CoreBluetoothMock",
            dependencies: [
                .product(name: "CoreBluetooth", package: "swift-corebluetooth"),
                .product(name: "BluetoothBackend", package: "swift-corebluetooth"),
                .product(name: "BluetoothEmulator", package: "swift-corebluetooth"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5), .enableUpcomingFeature("ExistentialAny")]),

        // An app as it was written for the original; its one new file declares CoreBluetooth's names.
        .target(
            name: "BlinkyClient", dependencies: ["CoreBluetoothMock"], path: "Tests/BlinkyClient",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "BlinkyClientTests", dependencies: ["BlinkyClient", "CoreBluetoothMock"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "CoreBluetoothMockTests",
            dependencies: [
                "CoreBluetoothMock",
                .product(name: "CoreBluetooth", package: "swift-corebluetooth"),
                .product(name: "BluetoothEmulator", package: "swift-corebluetooth"),
                .product(name: "CoreBluetoothTesting", package: "swift-corebluetooth"),
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "CoreBluetoothMockSwift6ClientTests",
            dependencies: [
                "CoreBluetoothMock", .product(name: "BluetoothEmulator", package: "swift-corebluetooth"),
                .product(name: "CoreBluetoothTesting", package: "swift-corebluetooth"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
