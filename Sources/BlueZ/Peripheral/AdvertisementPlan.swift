#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// One advertisement as BlueZ takes it, and what of it is left out where there is no room.
///
/// Pure.
///
/// BlueZ puts the flags and the service UUIDs into the advertisement, and the name into the scan response, so they do
/// not compete. It has no overflow area: what Apple would put there is not advertised.
struct AdvertisementPlan: Equatable, Sendable {
    private let localName: String?
    private var serviceUUIDs: [BluetoothUUID]
    private let manufacturerData: Data?
    private let serviceData: [BluetoothUUID: Data]

    /// The interval in milliseconds.
    ///
    /// The kernel's own is 1.28 s. BlueZ ignores it before 5.77, but for `bluetoothd -E`.
    private static let interval: (shortest: UInt32, longest: UInt32) = (100, 150)

    init(_ advertisement: Advertisement) {
        localName = advertisement.localName
        serviceUUIDs = advertisement.serviceUUIDs ?? []
        // Less than a company identifier is no manufacturer data.
        manufacturerData = advertisement.manufacturerData.flatMap { $0.count < 2 ? nil : $0 }
        serviceData = advertisement.serviceData ?? [:]
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
        if let manufacturerData {
            let bytes = [UInt8](manufacturerData)
            let company = DBusValue.uint16(UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
            let data = DBusValue.variant(.bytes(Array(bytes.dropFirst(2))))
            properties["ManufacturerData"] = .dictionary(
                DBusDictionary(
                    keyType: .uint16, valueType: .variant, entries: [DBusDictionary.Entry(key: company, value: data)]))
        }
        if !serviceData.isEmpty {
            let entries = serviceData.sorted { $0.key.text < $1.key.text }.map { uuid, data in
                DBusDictionary.Entry(key: .string(uuid.text), value: .variant(.bytes([UInt8](data))))
            }
            properties["ServiceData"] = .dictionary(
                DBusDictionary(keyType: .string, valueType: .variant, entries: entries))
        }
        return properties
    }

    /// Leaves out the last of the service UUIDs.
    ///
    /// - Returns: It; nil if there is none left.
    mutating func dropLast() -> BluetoothUUID? { serviceUUIDs.popLast() }
}
#endif
