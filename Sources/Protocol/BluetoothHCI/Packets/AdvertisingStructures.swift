package import BluetoothBackend
package import BluetoothSupport

/// The AD structures of an advertising packet.
///
/// Source: Core Specification Supplement, Part A, 1; Core Specification, Vol 3, Part C, 11.
package struct AdvertisingStructures: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// LE General Discoverable Mode, BR/EDR Not Supported.
    package mutating func addFlags() { add(0x01, [0x06]) }

    /// Adds service UUIDs, or those that a device solicits, in one list for each width.
    package mutating func add(services: [BluetoothUUID], areSolicited: Bool = false) {
        let types: KeyValuePairs<BluetoothUUID.Width, (UInt8, UInt8)> = [
            .bits16: (0x03, 0x14), .bits32: (0x05, 0x1F), .bits128: (0x07, 0x15),
        ]
        for (width, (offered, solicited)) in types {
            let list = services.filter { $0.width == width }
            if !list.isEmpty {
                add(areSolicited ? solicited : offered, list.flatMap { $0.bigEndianBytes.reversed() })
            }
        }
    }

    package mutating func add(serviceData: Data, of uuid: BluetoothUUID) {
        let type: UInt8 =
            switch uuid.width {
            case .bits16: 0x16
            case .bits32: 0x20
            case .bits128: 0x21
            }
        add(type, uuid.bigEndianBytes.reversed() + Array(serviceData))
    }

    package mutating func add(localName: String) { add(0x09, Array(localName.utf8)) }

    package mutating func add(txPower: Int8) { add(0x0A, [UInt8(bitPattern: txPower)]) }

    package mutating func add(manufacturerData: Data) { add(0xFF, Array(manufacturerData)) }

    package mutating func add(_ structure: AdvertisingStructure) { add(structure.type, Array(structure.data)) }

    /// Adds a structure; its content has 254 bytes at most, and is truncated if it is longer.
    private mutating func add(_ type: UInt8, _ content: [UInt8]) {
        let content = content.prefix(254)
        bytes += [UInt8(content.count + 1), type] + content
    }
}
