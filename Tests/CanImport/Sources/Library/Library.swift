#if canImport(CoreBluetooth)
import CoreBluetooth

/// Describes a UUID with CoreBluetooth.
public func describe(_ text: String) -> String { CBUUID(string: text).uuidString }
#else
/// Describes a UUID without CoreBluetooth.
public func describe(_: String) -> String { "no CoreBluetooth" }
#endif
