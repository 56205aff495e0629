package import BluetoothBackend
import BluetoothSupport

extension Advertisement {
    /// Reads AD structures; a malformed one ends the reading, and those of other types are skipped.
    ///
    /// Source: Core Specification Supplement, Part A, 1; Core Specification, Vol 3, Part C, 11.
    package init(structures bytes: [UInt8]) {
        self.init()
        var cursor = ByteCursor(bytes)
        while let length = cursor.byte(), length > 0, let structure = cursor.next(Int(length)),
            let type = structure.first
        {
            add(type, Array(structure.dropFirst()))
        }
    }

    private mutating func add(_ type: UInt8, _ content: [UInt8]) {
        switch type {
        case 0x02, 0x03: add(content, width: 2, to: \.serviceUUIDs)
        case 0x04, 0x05: add(content, width: 4, to: \.serviceUUIDs)
        case 0x06, 0x07: add(content, width: 16, to: \.serviceUUIDs)
        case 0x14: add(content, width: 2, to: \.solicitedServiceUUIDs)
        case 0x1F: add(content, width: 4, to: \.solicitedServiceUUIDs)
        case 0x15: add(content, width: 16, to: \.solicitedServiceUUIDs)
        // A complete name has precedence over a shortened one.
        case 0x08: localName = localName ?? String(decoding: content, as: UTF8.self)
        case 0x09: localName = String(decoding: content, as: UTF8.self)
        case 0x0A: txPowerLevel = content.first.map { Int8(bitPattern: $0) }
        case 0x16: addData(content, width: 2)
        case 0x20: addData(content, width: 4)
        case 0x21: addData(content, width: 16)
        case 0xFF: manufacturerData = Data(content)
        default: break
        }
    }

    private mutating func add(
        _ content: [UInt8], width: Int, to list: WritableKeyPath<Advertisement, [BluetoothUUID]?>
    ) {
        var cursor = ByteCursor(content)
        while let bytes = cursor.next(width), let uuid = BluetoothUUID(attBytes: bytes) {
            self[keyPath: list] = (self[keyPath: list] ?? []) + [uuid]
        }
    }

    private mutating func addData(_ content: [UInt8], width: Int) {
        guard content.count >= width, let uuid = BluetoothUUID(attBytes: content.prefix(width)) else { return }
        serviceData = serviceData ?? [:]
        serviceData?[uuid] = Data(content.dropFirst(width))
    }
}
