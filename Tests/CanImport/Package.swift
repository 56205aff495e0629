// swift-tools-version: 6.2
import PackageDescription

// A program on Linux, and a library that uses CoreBluetooth if it can be imported: like many that were written for
// Apple's platforms, without a dependency that could provide it. Scripts/check-traits builds this.
let traits = Context.environment["CAN_IMPORT_TRAITS"]?.split(separator: ",").map(String.init)
let root = "swift-corebluetooth"

let package = Package(
    name: "CanImport",
    dependencies: [
        traits.map { traits in
            .package(name: root, path: "../..", traits: Set(traits.map { Package.Dependency.Trait(stringLiteral: $0) }))
        } ?? .package(name: root, path: "../..")
    ],
    targets: [
        .target(name: "Library"),
        .executableTarget(
            name: "App",
            dependencies: ["Library", .product(name: "CoreBluetooth", package: root)]),
    ]
)
