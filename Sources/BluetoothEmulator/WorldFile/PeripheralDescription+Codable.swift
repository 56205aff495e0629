import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription: Codable {
    static let fields = FieldTable(
        PeripheralDescription(name: ""),
        .required("name", \.name),
        // First of the fields whose defaults are those of the handler's device.
        .custom(
            "handler",
            read: { device, field in
                guard let text: String = try field.value() else { return }
                device = .defaults(
                    of: try field.parse(text, .name("handlers", of: BuiltInHandler.allCases)), device.name)
            }, write: { $0.handler?.rawValue }),
        .text("address", \.address, .address),
        .value("advertising", \.advertising, isAlwaysWritten: true),
        .value("services", \.services, isAlwaysWritten: true),
        .text("proximity", \.proximity, .name("proximities", of: Proximity.allCases)),
        .value("rssi", \.rssi),
        .value("maximumMTU", \.maximumMTU),
        .text("connectionInterval", \.connectionInterval, .duration),
        .text("supervisionTimeout", \.supervisionTimeout, .duration),
        .value("parameters", \.namedParameters),
        .value("pairing", \.pairing),
        .value("channels", \.channels),
        .value("peripheralLatency", \.peripheralLatency),
        .text("addressRotation", \.addressRotation, .duration),
        .value("packetLossRate", \.packetLossRate),
        .value("prepareQueueLength", \.prepareQueueLength),
        .value("faults", \.faults))

    /// The defaults of a device with a built-in handler.
    private static func defaults(of handler: BuiltInHandler?, _ name: String) -> PeripheralDescription {
        guard let handler else { return PeripheralDescription(name: name) }
        let device = handler.device.named(name)
        return PeripheralDescription(
            name: name, advertising: device.advertising, services: device.services, maximumMTU: device.maximumMTU,
            handler: handler, parameters: device.parameters)
    }

    private var namedParameters: [String: Double] {
        get { Dictionary(parameters.map { ($0.rawValue, $1) }) { $1 } }
        set { parameters = Dictionary(newValue.map { (DeviceParameter(rawValue: $0), $1) }) { $1 } }
    }

    /// Reads a device of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes a device of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws {
        try Self.fields.write(self, encoder, defaults: .defaults(of: handler, name))
    }
}

extension PairingDescription: Codable {
    static let fields = FieldTable(
        PairingDescription(),
        .text("capability", \.capability, .name("capabilities", of: capabilities)),
        .value("passkey", \.passkey),
        .value("outOfBand", \.hasOutOfBandData),
        .value("requiresAuthentication", \.requiresAuthentication),
        .value("bondable", \.isBondable),
        .value("maximumBonds", \.maximumBonds),
        .text("answer", \.answer, .name("answers", of: Answer.allCases)),
        .value("requestsSecurity", \.requestsSecurity))

    /// All input and output capabilities, in the order of the Core Specification.
    static let capabilities: [PairingCapability] = [
        .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
    ]

    /// Reads the pairing of a device of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes the pairing of a device of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

extension AdvertisingData: Codable {
    static let fields = FieldTable(
        AdvertisingData(),
        .value("localName", \.localName),
        .value("txPowerLevel", \.txPowerLevel),
        .value("services", \.services),
        .value("solicitedServices", \.solicitedServices),
        .custom(
            "serviceData",
            read: { data, field in
                for (name, text) in try field.value() ?? [:] as [String: String] {
                    guard let uuid = BluetoothUUID(name) else { throw field.error("\"\(name)\" is not a UUID") }
                    data.serviceData[uuid] = try field.parse(text, .hex)
                }
            },
            write: { data in
                let pairs = data.serviceData.map { ($0.key.text, $0.value.hexText) }
                return pairs.isEmpty ? nil : Dictionary(pairs) { first, _ in first }
            }),
        .text("manufacturerData", \.manufacturerData, .hex))

    /// Reads the content of a packet of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes the content of a packet of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}

extension AdvertisingDescription: Codable {
    static let fields = FieldTable(
        AdvertisingDescription(AdvertisingData()),
        .value("data", \.data, isAlwaysWritten: true),
        .value("scanResponse", \.scanResponse),
        .text("interval", \.interval, .duration),
        .value("connectable", \.isConnectable),
        .value("continuesWhileConnected", \.continuesWhileConnected),
        .value("enabled", \.isEnabled),
        .text("duration", \.duration, .duration),
        .value("extended", \.isExtended))

    /// Reads an advertising set of a world file.
    public init(from decoder: any Decoder) throws { self = try Self.fields.read(decoder) }

    /// Writes an advertising set of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws { try Self.fields.write(self, encoder) }
}
