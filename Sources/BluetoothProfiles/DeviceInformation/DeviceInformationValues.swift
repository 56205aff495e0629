public import Foundation

/// A manufacturer's description of its device; each value is optional.
///
/// Source: Device Information Service 1.2, 3.
public struct DeviceInformationValues: Hashable, Sendable {
    // The emulator's `DeviceInformation` says the same of its devices. It sees no profiles, as they are over CoreBluetooth;
    // a test compares the bytes of both.

    /// The manufacturer's name.
    public var manufacturer: String?
    /// The model.
    public var model: String?
    /// The number of this piece.
    public var serialNumber: String?
    /// The revision of the hardware.
    public var hardwareRevision: String?
    /// The revision of the firmware.
    public var firmwareRevision: String?
    /// The revision of the software.
    public var softwareRevision: String?
    /// A number that no other system has.
    public var systemID: SystemID?
    /// The IEEE 11073-20601 regulatory certification data list.
    public var regulatoryCertification: Data?
    /// The vendor, the product and its version.
    public var pnpID: PnPID?
    /// The identifier of a medical device.
    public var uniqueDeviceIdentifier: UniqueDeviceIdentifier?

    /// What a maker says.
    public init(
        manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil,
        hardwareRevision: String? = nil, firmwareRevision: String? = nil, softwareRevision: String? = nil,
        systemID: SystemID? = nil, regulatoryCertification: Data? = nil, pnpID: PnPID? = nil,
        uniqueDeviceIdentifier: UniqueDeviceIdentifier? = nil
    ) {
        self.manufacturer = manufacturer
        self.model = model
        self.serialNumber = serialNumber
        self.hardwareRevision = hardwareRevision
        self.firmwareRevision = firmwareRevision
        self.softwareRevision = softwareRevision
        self.systemID = systemID
        self.regulatoryCertification = regulatoryCertification
        self.pnpID = pnpID
        self.uniqueDeviceIdentifier = uniqueDeviceIdentifier
    }
}
