#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// One advertisement as BlueZ takes it, and what of it is left out where there is no room.
///
/// Pure.
///
/// BlueZ puts the flags and the service UUIDs into the advertisement, and the name into the scan response, so they do
/// not compete. It has no overflow area: what Apple would put there is not advertised.
struct AdvertisementPlan: Equatable, Sendable {
    private let localName: String?
    private var serviceUUIDs: [BluetoothUUID]

    /// The interval in milliseconds.
    ///
    /// The kernel's own is 1.28 s. BlueZ ignores it before 5.77, but for `bluetoothd -E`.
    private static let interval: (shortest: UInt32, longest: UInt32) = (100, 150)

    init(_ advertisement: Advertisement) {
        localName = advertisement.localName
        serviceUUIDs = advertisement.serviceUUIDs ?? []
    }

    /// The properties of `org.bluez.LEAdvertisement1`.
    ///
    /// BlueZ pitfall: a `Timeout` may fire at once (https://github.com/tinygo-org/bluetooth/issues/380): there is none.
    var properties: [String: DBusValue] {
        var properties: [String: DBusValue] = [
            "Type": .string("peripheral"), "Discoverable": .boolean(true),
            "MinInterval": .uint32(Self.interval.shortest), "MaxInterval": .uint32(Self.interval.longest),
        ]
        if let localName, !localName.isEmpty { properties["LocalName"] = .string(localName) }
        if !serviceUUIDs.isEmpty { properties["ServiceUUIDs"] = .strings(serviceUUIDs.map(\.text)) }
        return properties
    }

    /// Leaves out the last of the service UUIDs.
    ///
    /// - Returns: It; nil if there is none left.
    mutating func dropLast() -> BluetoothUUID? { serviceUUIDs.popLast() }
}
#endif
