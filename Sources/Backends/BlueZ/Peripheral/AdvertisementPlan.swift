#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// An advertisement in BlueZ's form, which drops service UUIDs that do not fit.
///
/// Pure.
///
/// BlueZ puts the flags and the service UUIDs into the advertisement, and the name into the scan response, so they do
/// not compete for space. It has no overflow area: data for which Apple uses that area is not advertised.
struct AdvertisementPlan: Equatable, Sendable {
    private let localName: String?
    private var serviceUUIDs: [BluetoothUUID]
    private let manufacturerData: Data?
    private let serviceData: [BluetoothUUID: Data]

    /// The advertising interval in milliseconds.
    ///
    /// The kernel's default is 1.28 s. Before 5.77, BlueZ ignores this property unless started as `bluetoothd -E`.
    private static let interval: (shortest: UInt32, longest: UInt32) = (100, 150)

    init(_ advertisement: Advertisement) {
        localName = advertisement.localName
        serviceUUIDs = advertisement.serviceUUIDs ?? []
        // Manufacturer data begins with a company identifier of two bytes.
        manufacturerData = advertisement.manufacturerData.flatMap { $0.count < 2 ? nil : $0 }
        serviceData = advertisement.serviceData ?? [:]
    }

    /// The properties of `org.bluez.LEAdvertisement1`.
    ///
    /// BlueZ pitfall: a `Timeout` may fire immediately (https://github.com/tinygo-org/bluetooth/issues/380), so none is
    /// set.
    var properties: [String: DBusValue] {
        var properties: [String: DBusValue] = [
            "Type": .string("peripheral"), "Discoverable": .boolean(true),
            "MinInterval": .uint32(Self.interval.shortest), "MaxInterval": .uint32(Self.interval.longest),
        ]
        if let localName, !localName.isEmpty { properties["LocalName"] = .string(localName) }
        if !serviceUUIDs.isEmpty { properties["ServiceUUIDs"] = .strings(serviceUUIDs.map(\.text)) }
        if let manufacturerData {
            let bytes = [UInt8](manufacturerData)
            let company = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
            properties["ManufacturerData"] = .byteArrays(
                .uint16, [company: Array(bytes.dropFirst(2))], key: DBusValue.uint16)
        }
        if !serviceData.isEmpty {
            let entries = serviceData.map { ($0.key.text, [UInt8]($0.value)) }
            properties["ServiceData"] = .byteArrays(
                .string, Dictionary(uniqueKeysWithValues: entries), key: DBusValue.string)
        }
        return properties
    }

    /// Drops the last service UUID.
    ///
    /// - Returns: The dropped UUID; nil if none was left.
    mutating func dropLast() -> BluetoothUUID? { serviceUUIDs.popLast() }
}
#endif
