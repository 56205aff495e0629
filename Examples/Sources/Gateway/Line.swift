import CoreBluetooth

/// One line of output; unknown fields are omitted.
struct Line: Encodable {
    var time = Date()
    var type: String
    var state: String?
    var backend: String?
    var identifier: String?
    var name: String?
    var rssi: Int?
    var services: [String]?
    var manufacturerData: String?
    var service: String?
    var characteristic: String?
    var value: String?
    var error: String?

    init(type: String, state: String, backend: String?) {
        self.type = type
        self.state = state
        self.backend = backend
    }

    /// Creates the line of a change of a device's connection.
    init(type: String, of peripheral: CBPeripheral, error: (any Error)? = nil) {
        self.type = type
        identifier = peripheral.identifier.uuidString
        name = peripheral.name
        self.error = error?.localizedDescription
    }

    /// Creates the line of an advertisement.
    init(type: String, of peripheral: CBPeripheral, _ advertisement: [String: Any], rssi: Int) {
        self.init(type: type, of: peripheral)
        name = advertisement[CBAdvertisementDataLocalNameKey] as? String ?? name
        // 127 means unknown.
        self.rssi = rssi == 127 ? nil : rssi
        services = (advertisement[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID])?.map(\.uuidString)
        manufacturerData = (advertisement[CBAdvertisementDataManufacturerDataKey] as? Data)?.hexText
    }

    /// Creates the line of a value, or of the reason that it is missing.
    init(type: String, of peripheral: CBPeripheral, _ characteristic: CBCharacteristic, error: (any Error)?) {
        self.init(type: type, of: peripheral, error: error)
        service = characteristic.service?.uuid.uuidString
        self.characteristic = characteristic.uuid.uuidString
        value = error == nil ? characteristic.value?.hexText : nil
    }

    /// Prints the line on standard output.
    func write() {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            FileHandle.standardOutput.write(try encoder.encode(self) + Data("\n".utf8))
        } catch {
            FileHandle.standardError.write(Data("a line could not be written: \(error)\n".utf8))
        }
    }
}

extension Data {
    fileprivate var hexText: String {
        map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
