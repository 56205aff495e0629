public import Foundation

/// An event between managers of two processes, in a form that can be encoded.
///
/// UUIDs of attributes are bytes, most significant first. No world sends or receives these: see
/// ``EmulatorBus/configure(transport:)``.
public enum EmulatorInternalEvent: Codable, Sendable {
    /// A central manager begins to scan.
    case scanStarted(centralID: UUID, serviceUUIDs: [Data]?)
    /// A central manager ends its scan.
    case scanStopped(centralID: UUID)
    /// A central manager receives an advertisement of a peripheral.
    case peripheralDiscovered(
        centralID: UUID, peripheralID: UUID, advertisementData: [String: CodableValue], rssi: Int)
    /// A central manager connects.
    case connectionRequested(centralID: UUID, peripheralID: UUID)
    /// A link is up.
    case connectionEstablished(centralID: UUID, peripheralID: UUID)
    /// A connect failed.
    case connectionFailed(centralID: UUID, peripheralID: UUID, error: String)
    /// A central manager ends a link.
    case disconnectionRequested(centralID: UUID, peripheralID: UUID)
    /// A link ended.
    case disconnected(centralID: UUID, peripheralID: UUID)
    /// A central looks for services.
    case servicesDiscoveryRequested(centralID: UUID, peripheralID: UUID, serviceUUIDs: [Data]?)
    /// A central found services.
    case servicesDiscovered(centralID: UUID, peripheralID: UUID, serviceUUIDs: [Data])
    /// A central looks for characteristics.
    case characteristicsDiscoveryRequested(
        centralID: UUID, peripheralID: UUID, serviceUUID: Data, characteristicUUIDs: [Data]?)
    /// A central found characteristics.
    case characteristicsDiscovered(
        centralID: UUID, peripheralID: UUID, serviceUUID: Data, characteristicUUIDs: [Data])
    /// A central reads.
    case readRequested(centralID: UUID, peripheralID: UUID, characteristicUUID: Data)
    /// The answer to a read.
    case readResponse(centralID: UUID, peripheralID: UUID, characteristicUUID: Data, value: Data?, error: String?)
    /// A central writes; the type is the raw value of `CBCharacteristicWriteType`.
    case writeRequested(centralID: UUID, peripheralID: UUID, characteristicUUID: Data, value: Data, type: Int)
    /// The answer to a write.
    case writeResponse(centralID: UUID, peripheralID: UUID, characteristicUUID: Data, error: String?)
    /// A central subscribes or unsubscribes.
    case notifyStateChangeRequested(centralID: UUID, peripheralID: UUID, characteristicUUID: Data, enabled: Bool)
    /// A subscription changed.
    case notifyStateChanged(centralID: UUID, peripheralID: UUID, characteristicUUID: Data, enabled: Bool)
    /// A peripheral manager sends a value.
    case notificationSent(peripheralID: UUID, characteristicUUID: Data, value: Data)
    /// A peripheral manager begins to advertise.
    case advertisingStarted(peripheralID: UUID, advertisementData: [String: CodableValue])
    /// A peripheral manager ends its advertising.
    case advertisingStopped(peripheralID: UUID)
    /// A central reads a descriptor.
    case descriptorReadRequested(centralID: UUID, peripheralID: UUID, descriptorUUID: Data)
    /// The answer to the read of a descriptor.
    case descriptorReadResponse(
        centralID: UUID, peripheralID: UUID, descriptorUUID: Data, value: Data?, error: String?)
    /// A central writes a descriptor.
    case descriptorWriteRequested(centralID: UUID, peripheralID: UUID, descriptorUUID: Data, value: Data)
    /// The answer to the write of a descriptor.
    case descriptorWriteResponse(centralID: UUID, peripheralID: UUID, descriptorUUID: Data, error: String?)
    /// Two managers agreed to an ATT MTU.
    case mtuNegotiated(centralID: UUID, peripheralID: UUID, mtu: Int)
}

extension EmulatorInternalEvent {
    /// The identifier of the central that it concerns; without a central, that of the peripheral.
    public var targetID: UUID {
        switch self {
        case .scanStarted(let central, _), .scanStopped(let central), .peripheralDiscovered(let central, _, _, _),
            .connectionRequested(let central, _), .connectionEstablished(let central, _),
            .connectionFailed(let central, _, _), .disconnectionRequested(let central, _),
            .disconnected(let central, _), .servicesDiscoveryRequested(let central, _, _),
            .servicesDiscovered(let central, _, _), .characteristicsDiscoveryRequested(let central, _, _, _),
            .characteristicsDiscovered(let central, _, _, _), .readRequested(let central, _, _),
            .readResponse(let central, _, _, _, _), .writeRequested(let central, _, _, _, _),
            .writeResponse(let central, _, _, _), .notifyStateChangeRequested(let central, _, _, _),
            .notifyStateChanged(let central, _, _, _), .descriptorReadRequested(let central, _, _),
            .descriptorReadResponse(let central, _, _, _, _), .descriptorWriteRequested(let central, _, _, _),
            .descriptorWriteResponse(let central, _, _, _), .mtuNegotiated(let central, _, _):
            central
        case .notificationSent(let peripheral, _, _), .advertisingStarted(let peripheral, _),
            .advertisingStopped(let peripheral):
            peripheral
        }
    }
}
