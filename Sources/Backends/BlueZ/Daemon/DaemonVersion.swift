#if os(Linux)
/// The version of `bluetoothd`, which its adapters expose in `Modalias`.
///
/// It is unknown if the administrator has set `DeviceID` in `main.conf`.
package struct DaemonVersion: Equatable, Sendable, CustomStringConvertible {
    package let major: Int
    package let minor: Int

    package init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Creates a version from BlueZ's own device identification: vendor 1D6B, product 0246, and two bytes of version.
    ///
    /// - Parameter modalias: For instance `usb:v1D6Bp0246d0542`, which is 5.66. Nil for another vendor or product.
    package init?(modalias: String) {
        let prefix = "usb:v1D6Bp0246d"
        let digits = modalias.dropFirst(prefix.count)
        guard modalias.hasPrefix(prefix), digits.utf8.count == 4 else { return nil }
        guard let number = UInt16(digits, radix: 16) else { return nil }
        self.init(major: Int(number >> 8), minor: Int(number & 0xFF))
    }

    package var description: String { "\(major).\(minor)" }

    /// Whether `bluetoothd` crashes when a device matches the services of a discovery filter, even one of another
    /// program.
    ///
    /// BlueZ pitfall: only 5.87 crashes (https://github.com/bluez/bluez/issues/2282).
    package var crashesOnServiceFilter: Bool { self == DaemonVersion(major: 5, minor: 87) }
}
#endif
