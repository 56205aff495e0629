#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// `org.bluez.Device1`: a remote device.
struct Device1: RemoteInterface, Equatable {
    struct Changes: OptionSet {
        let rawValue: UInt8
        static let address = Changes(rawValue: 1)
        static let name = Changes(rawValue: 2)
        static let connected = Changes(rawValue: 4)
        static let servicesResolved = Changes(rawValue: 8)
        /// Something that an advertisement carries, signal strength included.
        static let advertisement = Changes(rawValue: 16)
    }

    static let interface = "org.bluez.Device1"

    private(set) var address = ""
    /// Whether the address is random; else it is public.
    private(set) var isRandom = false
    /// The advertised name or the GAP Device Name; nil where there is only an alias.
    private(set) var name: String?
    private(set) var isConnected = false
    private(set) var isPaired = false
    private(set) var isServicesResolved = false
    /// In dBm; nil when the device has not been heard in this discovery.
    ///
    /// BlueZ pitfall: it goes when discovery stops (https://github.com/ukBaz/python-bluezero/issues/388).
    private(set) var rssi: Int16?
    private(set) var txPower: Int16?
    /// Advertised, and found by GATT before: BlueZ does not tell one from the other.
    private(set) var uuids: [BluetoothUUID]?
    private(set) var manufacturerData: [UInt8]?
    private(set) var serviceData: [BluetoothUUID: Data]?
    private(set) var solicitedUUIDs: [BluetoothUUID]?
    /// How a device of both kinds is connected to: `le`, `bredr`, `last-seen` or `last-used`.
    ///
    /// From BlueZ 5.80 on, experimental; else nil.
    private(set) var preferredBearer: String?
    /// By company; BlueZ accumulates them.
    ///
    /// The newest one is in ``manufacturerData``.
    private var companies: [UInt16: [UInt8]] = [:]

    /// What the device says of itself, but for its name: see ``PeerDirectory``.
    var advertisement: Advertisement {
        Advertisement(
            txPowerLevel: txPower.flatMap { Int8(exactly: $0) }, serviceUUIDs: uuids,
            solicitedServiceUUIDs: solicitedUUIDs, serviceData: serviceData,
            manufacturerData: manufacturerData.map { Data($0) },
            // BlueZ does not tell; a device that is none is refused when it is connected to.
            isConnectable: true)
    }

    mutating func set(_ property: String, to value: DBusValue?) -> Changes? {
        switch property {
        case "Address", "AddressType": setAddress(property, value)
        case "Name": setName(value)
        case "PreferredBearer": setBearer(value)
        case "Connected", "Paired", "ServicesResolved": setFlag(property, value)
        case "RSSI", "TxPower": setPower(property, value)
        case "UUIDs": setUUIDs(value)
        case "ManufacturerData": setManufacturerData(value)
        case "ServiceData": setServiceData(value)
        case "AdvertisingData": setAdvertisingData(value)
        default: []
        }
    }

    private mutating func setAddress(_ property: String, _ value: DBusValue?) -> Changes? {
        guard let text = value?.stringValue else { return nil }
        let (oldAddress, wasRandom) = (address, isRandom)
        if property == "Address" { address = text.uppercased() } else { isRandom = text == "random" }
        return address != oldAddress || isRandom != wasRandom ? .address : []
    }

    private mutating func setName(_ value: DBusValue?) -> Changes? {
        guard value == nil || value?.stringValue != nil else { return nil }
        guard name != value?.stringValue else { return [] }
        name = value?.stringValue
        return [.name, .advertisement]
    }

    private mutating func setBearer(_ value: DBusValue?) -> Changes? {
        guard value == nil || value?.stringValue != nil else { return nil }
        preferredBearer = value?.stringValue
        return []
    }

    private mutating func setFlag(_ property: String, _ value: DBusValue?) -> Changes? {
        guard let flag = value?.boolValue else { return nil }
        switch property {
        case "Connected":
            defer { isConnected = flag }
            return isConnected != flag ? .connected : []
        case "Paired":
            isPaired = flag
            return []
        default:
            defer { isServicesResolved = flag }
            return isServicesResolved != flag ? .servicesResolved : []
        }
    }

    private mutating func setPower(_ property: String, _ value: DBusValue?) -> Changes? {
        guard value == nil || value?.int16Value != nil else { return nil }
        if property == "RSSI" {
            rssi = value?.int16Value
        } else {
            txPower = value?.int16Value ?? txPower
        }
        // A property that goes is the end of a discovery, not a report.
        return value == nil ? [] : .advertisement
    }

    private mutating func setUUIDs(_ value: DBusValue?) -> Changes? {
        guard let list = value?.uuidsValue else { return nil }
        uuids = list.isEmpty ? nil : list
        return .advertisement
    }

    private mutating func setManufacturerData(_ value: DBusValue?) -> Changes? {
        guard case .dictionary(let dictionary)? = value else { return value == nil ? [] : nil }
        var companies: [UInt16: [UInt8]] = [:]
        for entry in dictionary.entries {
            guard let company = entry.key.uint16Value, let bytes = entry.value.unwrapped.bytesValue else { return nil }
            companies[company] = bytes
        }
        // Old entries stay in the dictionary: the one that is new or different was in the last packet.
        let changed = companies.filter { self.companies[$0.key] != $0.value }.keys.sorted().last
        self.companies = companies
        if let company = changed, let bytes = companies[company] {
            manufacturerData = [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)] + bytes
        }
        return .advertisement
    }

    private mutating func setServiceData(_ value: DBusValue?) -> Changes? {
        guard case .dictionary(let dictionary)? = value else { return value == nil ? [] : nil }
        var data: [BluetoothUUID: Data] = [:]
        for entry in dictionary.entries {
            guard let uuid = entry.key.uuidValue, let bytes = entry.value.unwrapped.bytesValue else { return nil }
            data[uuid] = Data(bytes)
        }
        serviceData = data.isEmpty ? nil : data
        return .advertisement
    }

    /// `a{yv}` by AD type.
    ///
    /// Only the solicited services are not told otherwise.
    ///
    /// Source: Core Specification Supplement, Part A, 1.10.
    private mutating func setAdvertisingData(_ value: DBusValue?) -> Changes? {
        guard case .dictionary(let dictionary)? = value else { return value == nil ? [] : nil }
        let widths: [UInt8: Int] = [0x14: 2, 0x1F: 4, 0x15: 16]
        var solicited: [BluetoothUUID] = []
        for entry in dictionary.entries {
            guard let type = entry.key.byteValue, let bytes = entry.value.unwrapped.bytesValue else { return nil }
            guard let width = widths[type] else { continue }
            for start in stride(from: 0, through: bytes.count - width, by: width) {
                guard let uuid = BluetoothUUID(bigEndian: bytes[start..<start + width].reversed()) else { continue }
                solicited.append(uuid)
            }
        }
        solicitedUUIDs = solicited.isEmpty ? nil : solicited
        return .advertisement
    }
}
#endif
