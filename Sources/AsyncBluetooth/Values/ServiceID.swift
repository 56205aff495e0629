public import CoreBluetooth

/// Names a service of a device: `"180D"`, or `"180D#2"` for the second one of that UUID.
public struct ServiceID: AttributeID {
    /// The service.
    public let step: AttributeStep

    /// Names a service.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - number: Which one of that UUID, from 1.
    public init(_ uuid: CBUUID, number: Int = 1) { step = AttributeStep(uuid, number: number) }

    /// Reads a name: nil if it is none.
    public init?(_ text: String) {
        guard let step = AttributeStep(text[...]) else { return nil }
        self.step = step
    }

    /// The name as it is read.
    public var description: String { "\(step)" }
}
