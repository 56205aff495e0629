public import BluetoothBackend

/// An attribute in a recording: a characteristic, or a descriptor of one.
///
/// The text form is `180D/2A37`, `180D/2A37#1` for the second characteristic with that UUID in services with that UUID,
/// and `180D/2A37/2901` for a descriptor.
public struct RecordedAttribute: Hashable, Sendable {
    /// The UUID of the service.
    public var service: BluetoothUUID
    /// The UUID of the characteristic.
    public var characteristic: BluetoothUUID
    /// The index among the characteristics with these UUIDs, in handle order, from 0.
    public var index: Int
    /// The UUID of the descriptor; nil for the characteristic itself.
    public var descriptor: BluetoothUUID?

    /// Creates an attribute.
    public init(
        service: BluetoothUUID, characteristic: BluetoothUUID, index: Int = 0, descriptor: BluetoothUUID? = nil
    ) {
        self.service = service
        self.characteristic = characteristic
        self.index = max(0, index)
        self.descriptor = descriptor
    }

    /// The characteristic, or the one that contains the descriptor.
    package var path: CharacteristicPath { CharacteristicPath(characteristic, service: service, index: index) }
}

extension RecordedAttribute: LosslessStringConvertible {
    /// Parses `180D/2A37`, `180D/2A37#1` or `180D/2A37/2901`.
    ///
    /// - Returns: nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let service = BluetoothUUID(String(parts[0])) else { return nil }
        let names = parts[1].split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard let characteristic = BluetoothUUID(String(names[0])) else { return nil }
        self.init(service: service, characteristic: characteristic)
        if names.count > 1 {
            guard names[1].allSatisfy(\.isASCIIDigit), let index = Int(names[1]), index <= 0xFFFF else { return nil }
            self.index = index
        }
        if parts.count > 2 {
            guard let descriptor = BluetoothUUID(String(parts[2])) else { return nil }
            self.descriptor = descriptor
        }
    }

    /// The UUIDs, separated by slashes.
    public var description: String {
        "\(service.text)/\(characteristic.text)" + (index > 0 ? "#\(index)" : "")
            + (descriptor.map { "/\($0.text)" } ?? "")
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
