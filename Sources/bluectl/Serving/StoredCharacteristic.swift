#if Emulator
import BluetoothBackend
import BluetoothEmulator
import CoreBluetoothPackage

/// A characteristic that is served: its object, and the value that it holds now.
@MainActor
final class StoredCharacteristic {
    let description: CharacteristicDescription
    let object: CBMutableCharacteristic
    /// What reads answer.
    private(set) var value: Data
    /// Runs while somebody subscribes.
    var timer: Task<Void, Never>?
    private var position = 0

    init(_ description: CharacteristicDescription) {
        self.description = description
        value = description.value
        // Without a value of its own each read is asked of the app.
        object = CBMutableCharacteristic(
            type: CBUUID(description.uuid),
            properties: CBCharacteristicProperties(rawValue: UInt(description.properties.rawValue)), value: nil,
            permissions: CBAttributePermissions(rawValue: UInt(description.effectivePermissions.rawValue)))
        let descriptors = description.descriptors.map(Self.descriptor)
        if !descriptors.isEmpty { object.descriptors = descriptors }
    }

    /// A descriptor as the facade takes it: text for 2901, bytes for the rest.
    private static func descriptor(_ description: DescriptorDescription) -> CBMutableDescriptor {
        let isText = description.uuid.bits16 == 0x2901
        return CBMutableDescriptor(
            type: CBUUID(description.uuid),
            value: isText ? String(decoding: description.value, as: UTF8.self) : description.value)
    }

    /// The value from `offset` on.
    func read(from offset: Int) -> Result<Data, CBATTError> {
        guard offset <= value.count else { return .failure(CBATTError(.invalidOffset)) }
        return .success(Data(value.dropFirst(offset)))
    }

    /// The value after a write at `offset`, which replaces all behind it.
    func written(_ bytes: Data, at offset: Int, over value: Data) -> Result<Data, CBATTError> {
        guard offset <= value.count else { return .failure(CBATTError(.invalidOffset)) }
        let result = value.prefix(offset) + bytes
        guard result.count <= description.maximumLength else {
            return .failure(CBATTError(.invalidAttributeValueLength))
        }
        return .success(Data(result))
    }

    /// Takes a value over.
    func store(_ value: Data) { self.value = value }

    /// The timer fires: the next of its values, if it has any, is the value now.
    func advance() {
        guard let values = description.timer?.values, !values.isEmpty else { return }
        value = values[position % values.count]
        position += 1
    }
}
#endif
