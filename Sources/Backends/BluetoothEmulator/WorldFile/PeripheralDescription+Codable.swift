import BluetoothBackend
import BluetoothSupport

extension PeripheralDescription: WorldFileObject {
    static let fields = FieldTable(
        PeripheralDescription(name: ""),
        .custom(
            "name",
            // A recording has its own name.
            read: { device, field in
                let isOptional = field.container.contains(FieldName(recordingField))
                device.name = isOptional ? try field.value() ?? "" : try field.required()
            }, write: \.name),
        // The field precedes all fields whose default values come from the recorded device.
        .custom(
            recordingField,
            read: { device, field in
                guard let file: String = try field.value() else { return }
                device = try field.recordedDevice(file, name: device.name)
            }, write: { $0.replay?.file }),
        .custom(
            "replay",
            read: { device, field in
                guard let options: ReplayOptions = try field.value() else { return }
                guard device.replay != nil else { throw field.error("only a device with a recording plays one") }
                device.replay?.options = options
            },
            write: { device in
                device.replay.flatMap { $0.file == nil || $0.options == ReplayOptions() ? nil : $0.options }
            }),
        // The field precedes all fields whose default values come from the handler's device.
        .custom(
            "handler",
            read: { device, field in
                guard let text: String = try field.value() else { return }
                let form = ValueForm.name("handlers", of: BuiltInHandler.allCases)
                let handler = try form.read(text, field)
                guard device.replay == nil else { throw field.error("a device has a handler or a recording, not both") }
                device = .defaults(of: handler, device.name)
            }, write: { $0.handler?.rawValue }),
        .value("address", \.address, .address),
        .value("advertising", \.advertising, isAlwaysWritten: true),
        .attributes("services", \.services, isAlwaysWritten: true, handles: \.handleCount),
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

    /// The field with the recording that a device replays.
    static let recordingField = "recording"

    /// The default values of a device: those of its recording, if that is in a file, or of its built-in handler.
    private var defaults: PeripheralDescription {
        guard let replay, replay.file != nil else { return .defaults(of: handler, name) }
        return replay.device(named: name)
    }

    /// Returns the default values of a device with a built-in handler.
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

    /// Encodes a device for a world file, without the fields that have their default values.
    public func encode(to encoder: any Encoder) throws {
        try Self.fields.write(self, encoder, defaults: defaults)
    }
}

extension PairingDescription: WorldFileObject {
    static let fields = FieldTable(
        PairingDescription(),
        .value("capability", \.capability, .name("capabilities", of: PairingCapability.allCases)),
        .custom(
            "passkey", read: { $0.passkey = try $1.passkey() }, write: { $0.passkey.map(PasskeyText.digits) }),
        .value("outOfBand", \.hasOutOfBandData),
        .value("requiresAuthentication", \.requiresAuthentication),
        .value("bondable", \.isBondable),
        .value("maximumBonds", \.maximumBonds),
        .value("answer", \.answer, .name("answers", of: Answer.allCases)),
        .value("requestsSecurity", \.requestsSecurity))
}

extension FieldReader {
    /// Decodes a passkey: six digits as text, or a number.
    fileprivate func passkey() throws -> Int? {
        guard let written: JSONValue = try value() else { return nil }
        let digits =
            switch written {
            case .text(let text): text
            case .integer(let number): "\(number)"
            default: ""
            }
        guard let passkey = PasskeyText.passkey(digits) else {
            throw error("a passkey has six digits, as in \"000123\"")
        }
        return passkey
    }
}

extension AdvertisingData: WorldFileObject {
    static let fields = FieldTable(
        AdvertisingData(),
        .value("localName", \.localName),
        .value("txPowerLevel", \.txPowerLevel),
        .value("services", \.services, .list(.uuid)),
        .value("solicitedServices", \.solicitedServices, .list(.uuid)),
        .custom(
            "serviceData",
            read: { data, field in
                let written: [String: String] = try field.value() ?? [:]
                let pairs = try field.elements(written.sorted { $0.key < $1.key }.map { (FieldName($0), ($0, $1)) }) {
                    pair, field in
                    (try ValueForm.uuid.read(pair.0, field), try ValueForm.hex.read(pair.1, field))
                }
                for (uuid, value) in pairs { data.serviceData[uuid] = value }
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
