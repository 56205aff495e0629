#if canImport(Darwin)
@_exported public import class CoreBluetooth.CBCentralManager
#else
@_exported public import CoreBluetoothPackage
#endif
