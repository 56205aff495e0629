import AsyncBluetooth
import CoreBluetoothPackage

/// A value that was read, written or notified, as JSON.
struct ValueRecord: Encodable, Equatable {
    let service: String?
    let characteristic: String
    /// Where the value is that of a descriptor.
    var descriptor: String?
    var handle: Int?
    let value: String
    /// What the value means, where its layout is known and the command tells it.
    var text: String?
    /// Why it means nothing.
    var error: String?
    /// Only where the radio is not a real one.
    let backend: String?
}

extension ValueRecord {
    /// The value `data` of a characteristic.
    init(_ characteristic: DiscoveredCharacteristic, _ data: Data, backend: String?) {
        service = characteristic.id.service.uuid.uuidString
        self.characteristic = characteristic.uuid.uuidString
        handle = characteristic.handle.map { Int($0) }
        value = HexText.of(data)
        self.backend = backend
    }
}
