#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// `org.bluez.Device1`: a remote device.
struct Device1: RemoteInterface, Equatable {
    struct Changes: OptionSet, InterfaceChanges {
        let rawValue: UInt8
        static let address = Changes(rawValue: 1)
        static let name = Changes(rawValue: 2)
        static let connected = Changes(rawValue: 4)
        static let servicesResolved = Changes(rawValue: 8)
        /// A property from an advertisement, including the signal strength.
        static let advertisement = Changes(rawValue: 16)
        static let paired = Changes(rawValue: 32)
    }

    static let interface = "org.bluez.Device1"

    private(set) var address = ""
    /// Whether the address is random; otherwise it is public.
    private(set) var isRandom = false
    /// The advertised name or the GAP Device Name; nil if the device has only an alias.
    private(set) var name: String?
    private(set) var isConnected = false
    private(set) var isPaired = false
    private(set) var isServicesResolved = false
    /// The bearer of a connection to a device of both kinds: `le`, `bredr`, `last-seen` or `last-used`.
    ///
    /// From BlueZ 5.80 on, experimental; otherwise nil.
    private(set) var preferredBearer: String?
    /// The signal strength in dBm; nil if the device has not been heard in this discovery.
    ///
    /// BlueZ pitfall: it is removed when discovery stops (https://github.com/ukBaz/python-bluezero/issues/388).
    private(set) var rssi: Int16?
    /// The advertised data, except the name; see ``PeerDirectory``.
    ///
    /// BlueZ does not report whether a device is connectable; a device that is not refuses the connection. The service
    /// UUIDs contain those that were advertised and those that GATT discovery found earlier: BlueZ does not distinguish
    /// them.
    private(set) var advertisement = Advertisement(isConnectable: true)
    /// The data of each company, after its identifier; BlueZ accumulates them, and ``advertisement`` contains the
    /// newest.
    private var manufacturerData: [Data] = []

    init(path: ObjectPath) {}

    mutating func read(_ property: String, from value: inout DBusReader) throws(DBusError) -> Changes {
        switch property {
        case "RSSI": rssi = try value.int16()
        case "ManufacturerData": try readManufacturerData(&value)
        case "ServiceData": try readServiceData(&value)
        case "TxPower": advertisement.txPowerLevel = Int8(exactly: try value.int16())
        case "UUIDs":
            let uuids = try value.uuids()
            advertisement.serviceUUIDs = uuids.isEmpty ? nil : uuids
        case "AdvertisingData": try readAdvertisingData(&value)
        case "Name": return set(\.name, to: try value.string(), [.name, .advertisement])
        case "Connected": return set(\.isConnected, to: try value.bool(), .connected)
        case "Paired": return set(\.isPaired, to: try value.bool(), .paired)
        case "ServicesResolved": return set(\.isServicesResolved, to: try value.bool(), .servicesResolved)
        case "Address": return set(\.address, to: try value.string().uppercased(), .address)
        case "AddressType": return set(\.isRandom, to: try value.string() == "random", .address)
        case "PreferredBearer": return set(\.preferredBearer, to: try value.string(), [])
        default: return []
        }
        return .advertisement
    }

    /// Removes a property, which happens at the end of a discovery and is not a report.
    mutating func remove(_ property: String) {
        switch property {
        case "RSSI": rssi = nil
        case "Name": name = nil
        case "PreferredBearer": preferredBearer = nil
        default: break
        }
    }

    /// Marks a device whose object is gone as disconnected.
    mutating func disconnect() { isConnected = false }

    private mutating func readManufacturerData(_ value: inout DBusReader) throws(DBusError) {
        var all: [Data] = []
        var newest: (company: UInt16, data: Data)?
        try value.forEachEntry { entry throws(DBusError) in
            let company = try entry.uint16()
            var content = try entry.variantContent()
            let data = try content.withBytes { bytes in
                var data = Data(capacity: bytes.count + 2)
                data.append(UInt8(truncatingIfNeeded: company))
                data.append(UInt8(truncatingIfNeeded: company >> 8))
                data.append(bytes)
                return data
            }
            all.append(data)
            // BlueZ keeps old entries: the new or changed one was in the last packet.
            if !manufacturerData.contains(data), newest.map({ company > $0.company }) ?? true {
                newest = (company, data)
            }
        }
        manufacturerData = all
        if let newest { advertisement.manufacturerData = newest.data }
    }

    private mutating func readServiceData(_ value: inout DBusReader) throws(DBusError) {
        var data: [BluetoothUUID: Data] = [:]
        try value.forEachEntry { entry throws(DBusError) in
            let uuid = try entry.uuid()
            var content = try entry.variantContent()
            data[uuid] = try content.data()
        }
        advertisement.serviceData = data.isEmpty ? nil : data
    }

    /// Reads an `a{yv}` with AD types as keys.
    ///
    /// Only solicited services are read here, because they have no property.
    ///
    /// Source: Core Specification Supplement, Part A, 1.10.
    private mutating func readAdvertisingData(_ value: inout DBusReader) throws(DBusError) {
        let widths: [UInt8: Int] = [0x14: 2, 0x1F: 4, 0x15: 16]
        var solicited: [BluetoothUUID] = []
        try value.forEachEntry { entry throws(DBusError) in
            let type = try entry.byte()
            var content = try entry.variantContent()
            let bytes = try content.bytes()
            guard let width = widths[type] else { return }
            solicited += stride(from: 0, through: bytes.count - width, by: width).compactMap {
                BluetoothUUID(bigEndian: bytes[$0..<$0 + width].reversed())
            }
        }
        advertisement.solicitedServiceUUIDs = solicited.isEmpty ? nil : solicited
    }
}
#endif
