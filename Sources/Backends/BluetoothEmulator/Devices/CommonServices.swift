import BluetoothBackend
import BluetoothSupport
public import BluetoothValues

extension PeripheralDescription {
    /// A device with only a battery, at 100 percent.
    public static let battery = battery(level: 100)

    /// A device with only a battery.
    ///
    /// - Parameter level: The charge, 0...100 percent.
    public static func battery(level: Int) -> PeripheralDescription {
        builtIn("Battery", "C0:DE:00:00:18:0F", services: [.battery(level: level)], handler: .battery)
    }
}

extension ServiceDescription {
    /// The Battery Service, with a level of 0...100 percent.
    ///
    /// Source: Battery Service 1.1, 3.1: the level can be read and, here, notified.
    public static func battery(level: Int) -> ServiceDescription {
        ServiceDescription(
            "180F",
            characteristics: [
                CharacteristicDescription("2A19", [.read, .notify], value: Data([UInt8(clamping: level)]))
            ])
    }
}

/// A battery whose charge ``DeviceParameter/batteryLevel`` sets; subscribers are notified.
public struct BatteryHandler: EmulatedPeripheralHandler {
    /// Creates the handler.
    public init() {}

    /// Sets the charge.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        Self.handle(event, device: &device)
    }

    /// Handles the battery's events in any device that has a battery.
    static func handle(_ event: DeviceEvent, device: inout DeviceActions) {
        guard case .parameterChanged(.batteryLevel, let level) = event else { return }
        device.notify("2A19", value: Data([UInt8(level.whole(in: 0...100))]))
    }
}

/// The battery of an emulated device.
public struct EmulatedBattery: Sendable {
    /// The device with these controls.
    public let device: EmulatedDevice

    /// Creates the controls of a device; nil if it has no battery level.
    public init?(_ device: EmulatedDevice) {
        guard device.has(.batteryLevel) else { return nil }
        self.device = device
    }

    /// Sets the charge, 0...100 percent; subscribers are notified.
    public func setLevel(_ percent: Int) { device.set(.batteryLevel, to: Double(percent)) }
}

extension ServiceDescription {
    /// The Device Information Service, with a characteristic for each value that is not nil.
    public static func deviceInformation(_ information: DeviceInformationValues) -> ServiceDescription {
        let values: [(BluetoothUUID, Data?)] = [
            ("2A29", information.manufacturer?.data), ("2A24", information.model?.data),
            ("2A25", information.serialNumber?.data), ("2A27", information.hardwareRevision?.data),
            ("2A26", information.firmwareRevision?.data), ("2A28", information.softwareRevision?.data),
            ("2A23", information.systemID?.encoded), ("2A2A", information.regulatoryCertification),
            ("2A50", information.pnpID?.encoded), ("2BFF", information.uniqueDeviceIdentifier?.encoded),
        ]
        return ServiceDescription(
            "180A",
            characteristics: values.compactMap { uuid, value in
                value.map { CharacteristicDescription(uuid, .read, value: $0) }
            })
    }
}

extension ServiceDescription {
    /// The Device Information of a built-in device.
    static func deviceInformation(model: String) -> ServiceDescription {
        deviceInformation(
            DeviceInformationValues(
                manufacturer: "Emulated Devices", model: model, firmwareRevision: "1.0.0"))
    }
}

extension String {
    fileprivate var data: Data { Data(utf8) }
}

extension PeripheralDescription {
    /// A device with every value of Device Information except the identifier of a medical device.
    public static let deviceInformation = deviceInformation(
        DeviceInformationValues(
            manufacturer: "Emulated Devices", model: "DIS-1", serialNumber: "0001", hardwareRevision: "A",
            firmwareRevision: "1.0.0", softwareRevision: "1.0.0",
            systemID: SystemID(manufacturerIdentifier: 0x12_3456_789A, organizationallyUniqueIdentifier: 0xBC_DEF0),
            regulatoryCertification: Data([0, 0, 0, 0]),
            pnpID: PnPID(source: .bluetooth, vendor: 0xFFFF, product: 1, version: 0x0100)))

    /// A device with only Device Information.
    public static func deviceInformation(_ information: DeviceInformationValues) -> PeripheralDescription {
        builtIn(
            "Device Information", "C0:DE:00:00:18:0A", services: [.deviceInformation(information)],
            handler: .deviceInformation)
    }
}
