// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "pi-thermometer",
    dependencies: [.package(path: "../swift-corebluetooth")],
    targets: [
        .executableTarget(
            name: "PiThermometer",
            dependencies: [
                .product(name: "CoreBluetooth", package: "swift-corebluetooth"),
                .product(name: "AsyncBluetooth", package: "swift-corebluetooth"),
            ])
    ]
)
