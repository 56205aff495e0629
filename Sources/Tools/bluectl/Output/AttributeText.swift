import BluetoothBackend
import BluetoothProfiles
import BluetoothSupport
import BluetoothValues
import CoreBluetoothClasses

enum AttributeText {
    /// Returns `Heart Rate 180D`, or only the UUID if it has no standard name.
    static func label(_ uuid: CBUUID) -> String {
        standardName(uuid).map { "\($0) \(uuid.uuidString)" } ?? uuid.uuidString
    }

    /// Returns the name that the Bluetooth SIG assigned, or a well-known one of Nordic Semiconductor; nil without
    /// either.
    ///
    /// `CBUUID.description` names fewer, as Apple's does.
    static func standardName(_ uuid: CBUUID) -> String? {
        uuid.bluetoothUUID.bits16.flatMap(AssignedNumbers.attribute) ?? VendorNames.attribute(uuid.uuidString)
    }

    /// Returns the standard name, or the UUID without one.
    static func name(_ uuid: CBUUID) -> String { standardName(uuid) ?? uuid.uuidString }

    /// Returns the meaning of a value, or its bytes if the meaning is unknown: `87 %`, `Maker`.
    static func meaning(of data: Data, of uuid: CBUUID) -> String {
        if let bits = uuid.bluetoothUUID.bits16, StandardValues.type(of: bits) == String.self,
            let text = try? String(decoding: data)
        {
            return PrintableText.of(text)
        }
        if case .success(let text)? = typed(data, of: uuid) { return text }
        return plain(data) ?? (data.isEmpty ? "empty" : HexText.of(data))
    }

    static func label(_ uuid: String) -> String {
        BluetoothUUID(uuid).map { label(CBUUID($0)) } ?? PrintableText.of(uuid)
    }

    /// Returns the bytes and the meaning, `0048 (72 bpm)`; without a decoder, text that can be printed.
    static func value(_ data: Data, of uuid: CBUUID) -> String {
        let hex = data.isEmpty ? "empty" : HexText.of(data)
        let decoded = if case .success(let text)? = typed(data, of: uuid) { text } else { plain(data) }
        return decoded.map { "\(hex) (\($0))" } ?? hex
    }

    static func value(_ data: Data, of uuid: String) -> String {
        BluetoothUUID(uuid).map { value(data, of: CBUUID($0)) } ?? HexText.of(data)
    }

    /// Returns the meaning of a value with a standard layout, or the decoding error; nil without a layout.
    static func typed(_ data: Data, of uuid: CBUUID) -> Result<String, GATTValueError>? {
        func text<Value: GATTValue>(_ type: Value.Type) -> Result<String, GATTValueError>? {
            guard Value.self != Data.self else { return nil }
            do throws(GATTValueError) {
                let value = try type.init(decoding: data)
                return .success(value is String ? "\"\(PrintableText.of("\(value)"))\"" : "\(value)")
            } catch {
                return .failure(error)
            }
        }
        guard let bits = uuid.bluetoothUUID.bits16, let type = StandardValues.type(of: bits) else { return nil }
        return text(type)
    }

    private static func plain(_ data: Data) -> String? { data.plainText.map { "\"\($0)\"" } }
}
