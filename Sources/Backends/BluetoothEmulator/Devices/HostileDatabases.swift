import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription {
    /// A device with 2,000 services of 15 characteristics, which use 62,000 of the 65,535 handles.
    ///
    /// Finds apps that discover everything before they do anything, and apps whose screens draw each service.
    public static let endlessServices = endlessServices(2_000, characteristics: 15)

    /// A device with a very large number of services.
    ///
    /// If the attributes need more handles than exist, adding the device fails.
    public static func endlessServices(_ count: Int, characteristics: Int) -> PeripheralDescription {
        let values = (0..<max(0, characteristics)).map { index in
            CharacteristicDescription(
                BluetoothUUID(UInt16(truncatingIfNeeded: 0xF000 + index)), .read,
                value: UInt16(clamping: index).littleEndianBytes)
        }
        let services = (0..<max(0, count)).map { index in
            ServiceDescription(BluetoothUUID(UInt16(truncatingIfNeeded: 0xC000 + index)), characteristics: values)
        }
        return hostile("Endless Services", services: services, handler: .endlessServices)
    }
}

extension PeripheralDescription {
    /// A device with three services with the same UUID.
    ///
    /// Each service has three characteristics with the same UUID, and each of these two descriptors with the same UUID;
    /// all values differ.
    ///
    /// Finds apps that keep services and characteristics in dictionaries by UUID.
    public static let equalUUIDs = hostile(
        "Equal UUIDs",
        services: (0..<3).map { service in
            ServiceDescription(
                "FFF0",
                characteristics: (0..<3).map { characteristic in
                    CharacteristicDescription(
                        "FFF1", [.read, .notify], value: Data([UInt8(service), UInt8(characteristic)]),
                        descriptors: (0..<2).map {
                            DescriptorDescription(
                                "2901", value: Data("descriptor \($0) of \(characteristic) of \(service)".utf8))
                        })
                })
        }, handler: .equalUUIDs)
}

extension PeripheralDescription {
    /// A device whose values, notifications, descriptors, manufacturer data and service data have no bytes.
    ///
    /// One service has no characteristics. Finds apps that confuse an empty value with a missing one, or read the first
    /// byte without a check.
    public static let emptyValues = PeripheralDescription(
        name: "Empty Values",
        advertising: [
            AdvertisingDescription(
                AdvertisingData(serviceData: ["FFF0": Data()], manufacturerData: Data()),
                scanResponse: AdvertisingData(localName: ""))
        ],
        services: [
            ServiceDescription("FFEF"),
            ServiceDescription(
                "FFF0",
                characteristics: [
                    CharacteristicDescription(
                        "FFF1", [.read, .write, .notify], timer: .init(every: .seconds(1), values: [Data()]),
                        descriptors: [DescriptorDescription("2901", value: Data())])
                ]),
        ], handler: .emptyValues)
}

extension PeripheralDescription {
    /// A device whose advertised name contains line breaks and direction marks.
    ///
    /// Its GAP Device Name is 248 bytes that are not UTF-8. Finds apps that sort, print or store names unchecked, and
    /// apps that identify a device by its name.
    public static let strangeName = PeripheralDescription(
        name: String(repeating: "\u{1F9EA}", count: 62),
        advertising: [AdvertisingDescription(AdvertisingData(localName: "\u{202E}Strange\r\n\u{7}\u{0}Name"))],
        services: [.plain], handler: .strangeName)
}

/// Sets an invalid GAP Device Name before a central reads it.
public struct StrangeNameHandler: EmulatedPeripheralHandler {
    static let name = Data(repeating: 0xFF, count: 124) + Data(repeating: 0xC3, count: 124)

    /// Creates the handler.
    public init() {}

    /// Sets the bytes of the name on each connection.
    public func handle(_ event: DeviceEvent, state: inout Void, device: inout DeviceActions) {
        if case .connected = event { device.setValue(Self.name, of: CharacteristicPath("2A00", service: "1800")) }
    }
}

extension PeripheralDescription {
    /// A device that removes or adds a service ten times a second while a central is connected.
    ///
    /// Finds apps that keep services and characteristics across `didModifyServices`, or that discover everything again
    /// each time.
    public static let changingServices = hostile("Changing Services", services: [.plain], handler: .changingServices)
}

/// Adds a service with a new value and removes it again.
public struct ChangingServicesHandler: EmulatedPeripheralHandler {
    static let service: BluetoothUUID = "FFE0"

    /// Creates the handler.
    public init() {}

    /// Creates the state before the first change.
    public func makeState() -> Int { 0 }

    /// Changes the services while a central is connected.
    public func handle(_ event: DeviceEvent, state: inout Int, device: inout DeviceActions) {
        switch event {
        case .connected: device.startTimer(1, after: .milliseconds(100), every: .milliseconds(100))
        case .disconnected: device.stopTimer(1)
        case .timer(1):
            state += 1
            if state.isMultiple(of: 2) {
                device.removeService(Self.service)
            } else {
                let value = CharacteristicDescription("FFE1", .read, value: UInt16(state & 0xFFFF).littleEndianBytes)
                device.addService(ServiceDescription(Self.service, characteristics: [value]))
            }
        default: break
        }
    }
}
