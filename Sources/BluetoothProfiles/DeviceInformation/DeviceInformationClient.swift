public import AsyncBluetooth

/// The device information of another device.
public struct DeviceInformationClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The information of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Reads all values of the service.
    ///
    /// - Throws: A malformed value, or why it cannot be read; what the device does not say is nil.
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
