public import CoreBluetooth

/// Names a descriptor of a device by its path: `"180D/2A37/2901"`.
public struct DescriptorID: AttributeID {
    /// The characteristic that it describes.
    public let characteristic: CharacteristicID
    /// The descriptor within the characteristic.
    public let step: AttributeStep

    /// Names a descriptor.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - number: Which one of that UUID within the characteristic, from 1.
    ///   - characteristic: The characteristic that it describes.
    public init(_ uuid: CBUUID, number: Int = 1, of characteristic: CharacteristicID) {
        self.characteristic = characteristic
        step = AttributeStep(uuid, number: number)
    }

    /// Reads a path: nil if it is none.
    public init?(_ text: String) {
        guard let (characteristic, step) = CharacteristicID.parsed(text) else { return nil }
        self.characteristic = characteristic
        self.step = step
    }

    /// The path as it is read.
    public var description: String { "\(characteristic)/\(step)" }
}
