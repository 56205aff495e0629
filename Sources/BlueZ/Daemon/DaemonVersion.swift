#if os(Linux)
/// The version of `bluetoothd`, as its adapters show it in `Modalias`.
///
/// Unknown where the administrator has set `DeviceID` in `main.conf`.
package struct DaemonVersion: Equatable, Sendable, CustomStringConvertible {
    package let major: Int
    package let minor: Int

    package init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Reads the device identification that BlueZ gives itself: vendor 1D6B, product 0246, and a byte each of the version.
    ///
    /// - Parameter modalias: Such as `usb:v1D6Bp0246d0542`, which is 5.66. Nil for another vendor or product.
    package init?(modalias: String) {
        let prefix = "usb:v1D6Bp0246d"
        let digits = modalias.dropFirst(prefix.count)
        guard modalias.hasPrefix(prefix), digits.utf8.count == 4 else { return nil }
        guard let number = UInt16(digits, radix: 16) else { return nil }
        self.init(major: Int(number >> 8), minor: Int(number & 0xFF))
    }

    package var description: String { "\(major).\(minor)" }

    /// Whether `bluetoothd` crashes when a device matches the services of a discovery filter, whichever program has set that.
    ///
    /// BlueZ pitfall: only 5.87 does (https://github.com/bluez/bluez/issues/2282).
    package var crashesOnServiceFilter: Bool { self == DaemonVersion(major: 5, minor: 87) }
}
#endif
