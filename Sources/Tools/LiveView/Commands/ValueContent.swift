import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

/// The new value in a command: bytes, a text, or a number in the type of the characteristic.
enum ValueContent {
    case bytes(Data)
    case text(String)
    case number(Double)

    init(_ fields: CommandFields) throws(LiveError) {
        let names = ["value", "text", "number"].filter(fields.isPresent)
        guard names.count < 2 else { throw .invalid(names[1], "one of value, text and number is wanted") }
        switch names.first {
        case "text": self = .text(try fields.required("text"))
        case "number": self = .number(try fields.required("number"))
        default:
            guard let value = Data(hexText: try fields.required("value")) else {
                throw .invalid("value", "bytes are an even number of hexadecimal digits")
            }
            self = .bytes(value)
        }
    }

    /// Returns the bytes of the value.
    ///
    /// - Parameter characteristic: Returns the type of the characteristic, and its present value.
    func bytes(_ characteristic: () -> (type: ValueType, present: Data)) throws(LiveError) -> Data {
        switch self {
        case .bytes(let data): return data
        case .text(let text): return Data(text.utf8)
        case .number(let number):
            let (type, present) = characteristic()
            return try type.bytes(of: number, in: present)
        }
    }
}

extension ValueType {
    /// Returns the type of a characteristic of a device, and its present value.
    static func of(_ path: CharacteristicPath, at device: EmulatedDevice, _ present: Data) -> (ValueType, Data) {
        let format = device.value(ofDescriptor: "2904", of: path)
        return (ValueType(of: path.uuid, value: present, format: format), present)
    }
}
