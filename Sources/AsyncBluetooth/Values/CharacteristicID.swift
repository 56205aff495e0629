public import CoreBluetooth

/// Names a characteristic of a device by its path: `"180D/2A37"`, or `"180D/2A37#2"` for the second one of that UUID.
public struct CharacteristicID: AttributeID {
    /// The service that it is in.
    public let service: ServiceID
    /// The characteristic within the service.
    public let step: AttributeStep

    /// Names a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - number: Which one of that UUID within the service, from 1.
    ///   - service: The service that it is in.
    public init(_ uuid: CBUUID, number: Int = 1, in service: ServiceID) {
        self.service = service
        step = AttributeStep(uuid, number: number)
    }

    /// Reads a path: nil if it is none.
    public init?(_ text: String) {
        guard let (service, step) = ServiceID.parsed(text) else { return nil }
        self.service = service
        self.step = step
    }

    /// The path as it is read.
    public var description: String { "\(service)/\(step)" }
}
