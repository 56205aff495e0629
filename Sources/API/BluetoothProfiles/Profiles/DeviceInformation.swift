public import AsyncBluetooth
public import CoreBluetooth

/// The service Device Information (180A): its characteristics.
///
/// Source: Device Information Service 1.2.
public enum DeviceInformationService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "180A")
    /// The manufacturer's name (2A29).
    public static let manufacturer = GATTCharacteristic<String>("2A29", in: "180A", .read)
    /// The model (2A24).
    public static let model = GATTCharacteristic<String>("2A24", in: "180A", .read)
    /// The serial number (2A25).
    public static let serialNumber = GATTCharacteristic<String>("2A25", in: "180A", .read)
    /// The revision of the hardware (2A27).
    public static let hardwareRevision = GATTCharacteristic<String>("2A27", in: "180A", .read)
    /// The revision of the firmware (2A26).
    public static let firmwareRevision = GATTCharacteristic<String>("2A26", in: "180A", .read)
    /// The revision of the software (2A28).
    public static let softwareRevision = GATTCharacteristic<String>("2A28", in: "180A", .read)
    /// A unique number of the system (2A23).
    public static let systemID = GATTCharacteristic<SystemID>("2A23", in: "180A", .read)
    /// The IEEE 11073-20601 regulatory certification data list (2A2A).
    public static let regulatoryCertification = GATTCharacteristic<Data>("2A2A", in: "180A", .read)
    /// The vendor, the product and its version (2A50).
    public static let pnpID = GATTCharacteristic<PnPID>("2A50", in: "180A", .read)
    /// The identifier of a medical device (2BFF).
    public static let uniqueDeviceIdentifier = GATTCharacteristic<UniqueDeviceIdentifier>("2BFF", in: "180A", .read)
}

/// A client of another device's information.
public struct DeviceInformationClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// Creates a client of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Reads all values of the service.
    ///
    /// - Throws: `BluetoothError` for a malformed value or a failed read; missing characteristics are nil.
    public func values() async throws -> DeviceInformationValues {
        typealias Service = DeviceInformationService
        return DeviceInformationValues(
            manufacturer: try await peripheral.readIfPresent(Service.manufacturer),
            model: try await peripheral.readIfPresent(Service.model),
            serialNumber: try await peripheral.readIfPresent(Service.serialNumber),
            hardwareRevision: try await peripheral.readIfPresent(Service.hardwareRevision),
            firmwareRevision: try await peripheral.readIfPresent(Service.firmwareRevision),
            softwareRevision: try await peripheral.readIfPresent(Service.softwareRevision),
            systemID: try await peripheral.readIfPresent(Service.systemID),
            regulatoryCertification: try await peripheral.readIfPresent(Service.regulatoryCertification),
            pnpID: try await peripheral.readIfPresent(Service.pnpID),
            uniqueDeviceIdentifier: try await peripheral.readIfPresent(Service.uniqueDeviceIdentifier))
    }
}

/// The device information of a simulated device.
///
/// A system may refuse to publish this service: BlueZ can be configured to publish its own.
public final class DeviceInformationServer: ProfileServer {
    /// The characteristics, one for each known piece of information.
    public let values: [any ServedAttribute]

    /// Creates a server; a nil value gets no characteristic.
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

    /// The UUID of the service Device Information.
    public var service: CBUUID { DeviceInformationService.uuid }
}
