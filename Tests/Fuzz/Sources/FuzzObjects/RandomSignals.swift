import BluetoothDBus

@testable import BlueZ

/// A reader of signals from bytes, for which every sequence of bytes is a sequence of signals.
struct RandomSignals {
    private static let levels = ["hci", "dev_00_11_22_33_44_5", "service000", "char000", "desc000"]
    private static let interfaces = [
        "org.bluez.Adapter1", "org.bluez.Device1", "org.bluez.GattService1", "org.bluez.GattCharacteristic1",
        "org.bluez.GattDescriptor1", "org.bluez.Battery1",
    ]
    private static let properties = [
        "Address", "AddressType", "Name", "Alias", "Connected", "Paired", "ServicesResolved", "RSSI", "TxPower",
        "UUIDs", "ManufacturerData", "ServiceData", "AdvertisingData", "Powered", "Discovering", "Roles", "UUID",
        "Flags", "MTU", "Value", "Primary", "Includes", "Device", "Service", "Characteristic", "Handle", "Notifying",
    ]
    private static let texts = [
        "", "00:11:22:33:44:55", "public", "random", "180D", "0000180d-0000-1000-8000-00805f9b34fb", "read", "notify",
        "central", "no UUID", "Grüße",
    ]

    private var bytes: Slice<UnsafeBufferPointer<UInt8>>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes[...] }

    /// Returns the next message; nil at the end of the bytes.
    ///
    /// - Parameter listed: The objects that a snapshot lists.
    mutating func next(_ listed: [ObjectPath: DaemonMessage.Interfaces]) -> DaemonMessage? {
        guard !bytes.isEmpty else { return nil }
        switch byte() % 8 {
        case 0, 1, 2:
            let path = path()
            var interfaces: DaemonMessage.Interfaces = [:]
            for _ in 0...(byte() % 2) { interfaces[choice(Self.interfaces)] = values() }
            return .interfacesAdded(path, interfaces)
        case 3, 4, 5:
            let path = path()
            let interface = choice(Self.interfaces)
            let values = values()
            return .propertiesChanged(
                path, interface, values, removed: (0..<byte() % 2).map { _ in choice(Self.properties) })
        case 6: return .interfacesRemoved(path(), (0...(byte() % 2)).map { _ in choice(Self.interfaces) })
        default: return .snapshot(listed)
        }
    }

    private mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    private mutating func choice(_ from: [String]) -> String { from[Int(byte()) % from.count] }

    /// Returns one of a few paths, at any depth, so that signals often concern the same object.
    private mutating func path() -> ObjectPath {
        let depth = Int(byte()) % (Self.levels.count + 1)
        let text = Self.levels.prefix(depth).map { "/\($0)\(byte() % 3)" }.joined()
        return ObjectPath("/org/bluez" + text) ?? .root
    }

    private mutating func values() -> [String: DBusValue] {
        var values: [String: DBusValue] = [:]
        for _ in 0..<byte() % 4 { values[choice(Self.properties)] = value(depth: 0) }
        return values
    }

    private mutating func value(depth: Int) -> DBusValue {
        switch byte() % (depth < 3 ? 14 : 9) {
        case 0: return .byte(byte())
        case 1: return .boolean(byte() % 2 == 1)
        case 2: return .int16(Int16(bitPattern: word()))
        case 3: return .uint16(word())
        case 4: return .int32(Int32(bitPattern: UInt32(word()) << 16 | UInt32(word())))
        case 5: return .double(Double(byte()) / 3)
        case 6: return .string(choice(Self.texts))
        case 7: return .objectPath(path())
        case 8: return .bytes((0..<byte() % 32).map { _ in byte() })
        case 9: return .strings((0..<byte() % 4).map { _ in choice(Self.texts) })
        case 10: return .variant(value(depth: depth + 1))
        case 11: return dictionary(.uint16, depth) { .uint16($0.word()) }
        case 12: return dictionary(.string, depth) { .string($0.choice(Self.texts)) }
        default: return dictionary(.byte, depth) { .byte($0.byte()) }
        }
    }

    private mutating func word() -> UInt16 { UInt16(byte()) << 8 | UInt16(byte()) }

    private mutating func dictionary(
        _ keys: DBusType, _ depth: Int, key: (inout RandomSignals) -> DBusValue
    ) -> DBusValue {
        var entries: [DBusDictionary.Entry] = []
        for _ in 0..<byte() % 3 {
            let key = key(&self)
            entries.append(.init(key: key, value: .variant(value(depth: depth + 1))))
        }
        return .dictionary(DBusDictionary(keyType: keys, valueType: .variant, entries: entries))
    }
}
