#if canImport(CoreBluetooth)
import CoreBluetooth

/// What the library says of a UUID where there is CoreBluetooth.
public func describe(_ text: String) -> String { CBUUID(string: text).uuidString }
#else
/// What the library says of a UUID where there is none.
public func describe(_: String) -> String { "no CoreBluetooth" }
#endif
