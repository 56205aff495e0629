// What `import CoreBluetooth` means.
//
// Linux: this package's classes. Apple's platforms: Apple's framework. There the module has the framework's own name, and
// a module that imports its own name gets the C module beneath it, as the SDK's overlays do; so the package can stay an
// unconditional dependency of a project that also builds for Apple's platforms. This branch has not been run on macOS.
#if canImport(Darwin)
@_exported public import CoreBluetooth
#else
@_exported public import CoreBluetoothClasses
#endif
