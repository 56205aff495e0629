public import CoreBluetooth

/// The device information of a device that this program plays.
///
/// A system may refuse to publish this service: BlueZ has one of its own when it is told to.
public final class DeviceInformationServer: ProfileServer {
    /// A value for each thing that is said.
    public let values: [any ServedAttribute]

    /// What is nil has no characteristic.
    public init(_ information: DeviceInformationValues) {
        typealias Service = DeviceInformationService
        func served<Value>(
            _ characteristic: GATTCharacteristic<Value>, _ value: Value?
        ) -> (any ServedAttribute)? { value.map { ServedValue(characteristic, $0) } }
        let all: [(any ServedAttribute)?] = [
            served(Service.manufacturer, information.manufacturer), served(Service.model, information.model),
            served(Service.serialNumber, information.serialNumber),
            served(Service.hardwareRevision, information.hardwareRevision),
            served(Service.firmwareRevision, information.firmwareRevision),
            served(Service.softwareRevision, information.softwareRevision),
            served(Service.systemID, information.systemID),
            served(Service.regulatoryCertification, information.regulatoryCertification),
            served(Service.pnpID, information.pnpID),
            served(Service.uniqueDeviceIdentifier, information.uniqueDeviceIdentifier),
        ]
        values = all.compactMap { $0 }
    }

    /// Device Information.
    public var service: CBUUID { DeviceInformationService.uuid }
}
