import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription: WorldFileObject {
    static let fields = FieldTable(
        PeripheralDescription(name: ""),
        .required("name", \.name),
        // First of the fields whose defaults are those of the handler's device.
        .custom(
            "handler",
            read: { device, field in
                guard let text: String = try field.value() else { return }
                let form = ValueForm.name("handlers", of: BuiltInHandler.allCases)
                device = .defaults(of: try form.read(text, field), device.name)
            }, write: { $0.handler?.rawValue }),
        .value("address", \.address, .address),
        .value("advertising", \.advertising, isAlwaysWritten: true),
        .value("services", \.services, isAlwaysWritten: true),
        .value("proximity", \.proximity, .name("proximities", of: Proximity.allCases)),
        .value("rssi", \.rssi),
        .value("maximumMTU", \.maximumMTU),
        .value("connectionInterval", \.connectionInterval, .duration),
        .value("supervisionTimeout", \.supervisionTimeout, .duration),
        .value("phy", \.phy, .name("PHYs", of: PHY.allCases)),
        .value("maximumDataLength", \.maximumDataLength),
        .value("connectionEventLength", \.connectionEventLength, .duration),
        .value("packetsPerConnectionEvent", \.packetsPerConnectionEvent),
        .value("parameters", \.namedParameters),
        .value("pairing", \.pairing),
        .value("channels", \.channels),
        .value("peripheralLatency", \.peripheralLatency),
        .value("addressRotation", \.addressRotation, .duration),
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

    /// Writes a device of a world file, without the fields that have their defaults.
    public func encode(to encoder: any Encoder) throws {
        try Self.fields.write(self, encoder, defaults: .defaults(of: handler, name))
    }
}

extension PairingDescription: WorldFileObject {
    static let fields = FieldTable(
        PairingDescription(),
        .value("capability", \.capability, .name("capabilities", of: capabilities)),
        .value("passkey", \.passkey),
        .value("outOfBand", \.hasOutOfBandData),
        .value("requiresAuthentication", \.requiresAuthentication),
        .value("bondable", \.isBondable),
        .value("maximumBonds", \.maximumBonds),
        .value("answer", \.answer, .name("answers", of: Answer.allCases)),
        .value("requestsSecurity", \.requestsSecurity))

    /// All input and output capabilities, in the order of the Core Specification.
    static let capabilities: [PairingCapability] = [
        .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
    ]
}

extension AdvertisingData: WorldFileObject {
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
                    data.serviceData[uuid] = try ValueForm.hex.read(text, field)
                }
            },
            write: { data in
                let pairs = data.serviceData.map { ($0.key.text, $0.value.hexText) }
                return pairs.isEmpty ? nil : Dictionary(pairs) { first, _ in first }
            }),
        .value("manufacturerData", \.manufacturerData, .hex))
}

extension AdvertisingDescription: WorldFileObject {
    static let fields = FieldTable(
        AdvertisingDescription(AdvertisingData()),
        .value("data", \.data, isAlwaysWritten: true),
        .value("scanResponse", \.scanResponse),
        .value("interval", \.interval, .duration),
        .value("connectable", \.isConnectable),
        .value("continuesWhileConnected", \.continuesWhileConnected),
        .value("enabled", \.isEnabled),
        .value("duration", \.duration, .duration),
        .value("extended", \.isExtended))
}
