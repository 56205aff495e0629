// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "thermometer-gateway",
    dependencies: [.package(path: "../swift-corebluetooth")],
    targets: [
        .executableTarget(
            name: "ThermometerGateway",
            dependencies: [
                .product(name: "CoreBluetooth", package: "swift-corebluetooth"),
                .product(name: "AsyncBluetooth", package: "swift-corebluetooth"),
                .product(name: "BluetoothProfiles", package: "swift-corebluetooth"),
            ])
    ]
)
