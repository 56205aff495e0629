import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth
import Foundation

extension DeviceConfiguration {
    /// Reads the devices of a file.
    static func list(_ top: YAMLFields) throws -> [DeviceConfiguration] {
        let known: Set<String> = ["id", "name", "address", "identifier", "localName", "profiles", "values", "commands"]
        let fields = try top.list("devices", known: known)
        var ids: Set<String> = []
        return try fields.map { fields in
            let device = try DeviceConfiguration(fields)
            guard ids.insert(device.id).inserted else { throw fields.error("id", "two devices are named \(device.id)") }
            return device
        }
    }

    private init(_ fields: YAMLFields) throws {
        id = try fields.name("id")
        name = try fields.text("name") ?? id
        selector = try Self.selector(fields)
        let known: Set<String> = [
            "id", "name", "characteristic", "format", "read", "unit", "deviceClass", "stateClass", "minimumInterval",
        ]
        values = try (fields.text("profiles") ?? "").split(separator: " ").flatMap { name in
            guard let values = ValueConfiguration.profiles[String(name)] else {
                let names = ValueConfiguration.profiles.keys.sorted().joined(separator: ", ")
                throw fields.error("profiles", "\"\(name)\" is none of \(names)")
            }
            return values
        }
        values += try fields.list("values", known: known).map(ValueConfiguration.init)
        let commandFields: Set<String> = [
            "id", "name", "characteristic", "kind", "on", "off", "press", "format", "minimum", "maximum",
            "maximumLength",
        ]
        commands = try fields.list("commands", known: commandFields).map(CommandConfiguration.init)
        var ids: Set<String> = []
        for id in values.map(\.id) + commands.map(\.id) where !ids.insert(id).inserted {
            throw fields.error(nil, "two values or commands are named \(id)")
        }
        guard !ids.isEmpty else { throw fields.error(nil, "has neither profiles, values nor commands") }
        guard !ids.contains("status") else { throw fields.error(nil, "no value or command can be named status") }
    }

    private static func selector(_ fields: YAMLFields) throws -> Selector {
        switch (try fields.address("address"), try fields.text("identifier"), try fields.text("localName")) {
        case (let address?, nil, nil): return .address(address)
        case (nil, let text?, nil):
            guard let identifier = UUID(uuidString: text) else {
                throw fields.error("identifier", "\"\(text)\" is no UUID")
            }
            return .identifier(identifier)
        case (nil, nil, let name?): return .localName(name)
        default: throw fields.error(nil, "must have one of the fields address, identifier and localName")
        }
    }
}

extension ValueConfiguration {
    init(_ fields: YAMLFields) throws {
        id = try fields.name("id")
        name = try fields.text("name") ?? id
        characteristic = try fields.characteristic()
        format = try fields.format()
        source =
            try fields.duration("read", in: .seconds(1)...(.seconds(86_400))).map { .reads(every: $0) }
            ?? .notifications
        unit = try fields.text("unit")
        deviceClass = try fields.text("deviceClass")
        stateClass = try fields.text("stateClass") ?? (format.isNumber ? "measurement" : nil)
        minimumInterval = try fields.duration("minimumInterval", in: .milliseconds(1)...(.seconds(86_400)))
    }

    private init(
        _ id: String, _ name: String, _ characteristic: CharacteristicID, _ format: String, unit: String,
        deviceClass: String? = nil, source: Source = .notifications
    ) {
        guard let format = ValueFormat(format) else { preconditionFailure("\(format) is no format") }
        self.id = id
        self.name = name
        self.characteristic = characteristic
        self.source = source
        self.format = format
        self.unit = unit
        self.deviceClass = deviceClass
        stateClass = "measurement"
    }

    /// The values of standard services, by the names of the profiles.
    static let profiles: [String: [ValueConfiguration]] = [
        "heart-rate": [
            ValueConfiguration(
                "heart-rate", "Heart rate", HeartRateService.measurement.id, "heart-rate", unit: "bpm")
        ],
        "battery": [
            ValueConfiguration(
                "battery", "Battery", BatteryService.level.id, "uint8", unit: "%", deviceClass: "battery",
                source: .reads(every: .seconds(3_600)))
        ],
        "health-thermometer": [
            ValueConfiguration(
                "body-temperature", "Body temperature", HealthThermometerService.measurement.id,
                "temperature-measurement", unit: "°C", deviceClass: "temperature")
        ],
        "environmental-sensing": [
            ValueConfiguration(
                "temperature", "Temperature", EnvironmentalSensingService.temperature.id, "sint16/100", unit: "°C",
                deviceClass: "temperature"),
            ValueConfiguration(
                "humidity", "Humidity", EnvironmentalSensingService.humidity.id, "uint16/100", unit: "%",
                deviceClass: "humidity"),
        ],
    ]
}

extension CommandConfiguration {
    init(_ fields: YAMLFields) throws {
        id = try fields.name("id")
        name = try fields.text("name") ?? id
        characteristic = try fields.characteristic()
        switch try fields.requiredText("kind") {
        case "switch": kind = .onOff(on: try fields.bytes("on"), off: try fields.bytes("off"))
        case "button": kind = .press(try fields.bytes("press"))
        case "text": kind = .text(maximumLength: try fields.integer("maximumLength", in: 1...512) ?? 20)
        case "number":
            let format = try fields.format()
            guard format.isWritable else { throw fields.error("format", "is no format of a number at the front") }
            guard let minimum = try fields.number("minimum"), let maximum = try fields.number("maximum"),
                minimum < maximum
            else { throw fields.error(nil, "needs the fields minimum and maximum, the larger of which is maximum") }
            for bound in [minimum, maximum] {
                do { _ = try format.encode(bound) } catch { throw fields.error("format", "\(error)") }
            }
            kind = .number(format, minimum...maximum)
        case let other: throw fields.error("kind", "\"\(other)\" is none of switch, button, number, text")
        }
    }
}

extension YAMLFields {
    /// Reads a service and a characteristic, as in `180D/2A37`.
    fileprivate func characteristic() throws -> CharacteristicID {
        let text = try requiredText("characteristic")
        guard let id = CharacteristicID(text) else {
            throw error("characteristic", "\"\(text)\" is not a service and a characteristic such as 180D/2A37")
        }
        return id
    }

    /// Reads an address, as in `C0:11:22:33:44:55`.
    func address(_ key: String) throws -> String? {
        guard let address = try text(key) else { return nil }
        let bytes = address.split(separator: ":", omittingEmptySubsequences: false)
        guard bytes.count == 6, bytes.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
            throw error(key, "\"\(address)\" is not an address such as C0:11:22:33:44:55")
        }
        return address
    }

    /// Reads the format of a value.
    func format() throws -> ValueFormat {
        let text = try requiredText("format")
        guard let format = ValueFormat(text) else {
            throw error(
                "format",
                "\"\(text)\" is not a type with @offset and /divisor, as in sint16@2/100; types are "
                    + ValueFormat.typeNames.joined(separator: ", "))
        }
        return format
    }
}
