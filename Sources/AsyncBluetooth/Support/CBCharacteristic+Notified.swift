import CoreBluetooth

#if canImport(CoreBluetoothPackage)
import CoreBluetoothPackage

extension CBCharacteristic {
    /// Whether the update that the delegate hears of is a notification, and not the answer of a read.
    ///
    /// For use within the callback.
    var isNotified: Bool { isLastUpdateNotification }
}
#else
extension CBCharacteristic {
    /// Whether the update that the delegate hears of may be a notification; Apple's framework does not tell.
    var isNotified: Bool { isNotifying }
}
#endif
