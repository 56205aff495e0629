import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device with nothing but a battery, at 100 percent.
    public static let battery = battery(level: 100)

    /// A device with nothing but a battery.
    ///
    /// - Parameter level: The charge, 0...100 percent.
    public static func battery(level: Int) -> PeripheralDescription {
        PeripheralDescription(
            name: "Battery", address: "C0:DE:00:00:18:0F",
            advertising: [AdvertisingDescription(AdvertisingData(localName: "Battery", services: ["180F"]))],
            services: [.battery(level: level)], handler: .battery)
    }
}

extension ServiceDescription {
    /// The Battery Service, with a level of 0...100 percent.
    ///
    /// Source: Battery Service 1.1, 3.1: the level is read and, here, notified.
    public static func battery(level: Int) -> ServiceDescription {
        ServiceDescription(
            "180F",
            characteristics: [
                CharacteristicDescription("2A19", [.read, .notify], value: Data([UInt8(clamping: level)]))
            ])
    }
}

/// A battery that keeps its charge until ``DeviceParameter/batteryLevel`` changes it, which subscribers are notified of.
public struct BatteryHandler: EmulatedPeripheralHandler {
    /// A full battery.
    public init() {}

    /// Takes a new charge.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        Self.handle(event, device: &device)
    }

    /// What the battery does in any device that has one.
    static func handle(_ event: DeviceEvent, device: inout DeviceActions) {
        guard case .parameterChanged(.batteryLevel, let level) = event else { return }
        device.notify("2A19", value: Data([UInt8(level.whole(in: 0...100))]))
    }
}
