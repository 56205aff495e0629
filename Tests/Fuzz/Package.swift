// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let root = "swift-corebluetooth"

/// Fuzzers of the code that reads from the bus, from peers and from files; `make fuzz` builds them with the options
/// that libFuzzer needs, and runs them.
///
/// A separate package, so that the dependency graph of apps does not contain them.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: root, path: "../..", traits: ["BlueZ", "Emulator"])],
    targets: [
        .target(name: "CFuzzer", linkerSettings: [.linkedLibrary("dbus-1")]),
        fuzzer("FuzzMessages", of: "BlueZ", "_BluetoothDBus"),
        fuzzer("FuzzObjects", of: "BlueZ", "_BluetoothDBus"),
        fuzzer("FuzzValues", of: "BluetoothProfiles", "CoreBluetooth"),
        fuzzer("FuzzStream", of: "BluetoothBackend", "BluetoothEmulator", "CoreBluetooth"),
        fuzzer("FuzzWorlds", of: "BluetoothEmulator"),
    ]
)

func fuzzer(_ name: String, of products: String...) -> Target {
    .executableTarget(
        name: name, dependencies: ["CFuzzer"] + products.map { .product(name: $0, package: root) },
        swiftSettings: settings)
}
