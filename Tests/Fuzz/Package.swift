// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let root = "swift-corebluetooth"

/// Fuzzers of what reads from the bus; `make fuzz` builds them with what libFuzzer needs, and runs them.
///
/// A package of their own, so that the dependency graph of apps does not contain them.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: root, path: "../..", traits: ["BlueZ"])],
    targets: [
        .target(name: "CFuzzer", linkerSettings: [.linkedLibrary("dbus-1")]),
        .executableTarget(
            name: "FuzzMessages",
            dependencies: [
                "CFuzzer", .product(name: "BlueZ", package: root), .product(name: "_BluetoothDBus", package: root),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "FuzzObjects",
            dependencies: [
                "CFuzzer", .product(name: "BlueZ", package: root), .product(name: "_BluetoothDBus", package: root),
            ],
            swiftSettings: settings),
    ]
)
