import BluetoothProfiles
import CoreBluetooth
import Foundation

extension AdvertisementRule {
    private static let formats = ["bthome", "eddystone", "ibeacon", "manufacturer-data", "ruuvi", "service-data"]
    private static let fields: Set<String> = [
        "id", "name", "format", "address", "localName", "devices", "uuid", "major", "minor", "service", "company",
        "signalStrength", "minimumInterval", "repeatInterval", "values",
    ]

    /// Reads the rules of a file.
    static func list(_ top: YAMLFields, beside devices: [DeviceConfiguration]) throws -> [AdvertisementRule] {
        var rules: [AdvertisementRule] = []
        for fields in try top.list("advertisements", known: Self.fields) {
            let rule = try AdvertisementRule(fields)
            for other in devices.map(\.id) + rules.map(\.id) where other == rule.id || rule.isName(other) {
                throw fields.error("id", "the name \(other) is taken, or could be that of a device of this rule")
            }
            guard !rules.contains(where: { $0.isName(rule.id) }) else {
                throw fields.error("id", "\(rule.id) could be the name of a device of another rule")
            }
            rules.append(rule)
        }
        return rules
    }

    private init(_ fields: YAMLFields) throws {
        id = try fields.name("id")
        name = try fields.text("name") ?? id
        format = try Self.format(fields)
        address = try fields.address("address")?.uppercased()
        localName = try fields.text("localName")
        hasSignalStrength = try fields.boolean("signalStrength") ?? false
        let day = Duration.seconds(86_400)
        minimumInterval = try fields.duration("minimumInterval", in: .seconds(1)...day) ?? .seconds(10)
        repeatInterval = try fields.duration("repeatInterval", in: .seconds(10)...day) ?? .seconds(600)
        let known: Set<String> = ["id", "name", "format", "unit", "deviceClass", "stateClass"]
        values = try fields.list("values", known: known).map(RawValue.init)
        devices = 1
        guard minimumInterval <= repeatInterval else {
            throw fields.error("repeatInterval", "must not be less than minimumInterval")
        }
        if case .iBeacon = format, address != nil { throw fields.error("address", "an iBeacon is found by its uuid") }
        try readDevices(fields)
        try checkValues(fields)
    }

    private mutating func readDevices(_ fields: YAMLFields) throws {
        let number = try fields.integer("devices", in: 1...1_000)
        if isOfOneDevice {
            guard number == nil else { throw fields.error("devices", "the rule is for one device") }
        } else {
            guard let number else {
                throw fields.error(nil, "needs the field devices, how many it takes, unless it names one device")
            }
            devices = number
        }
    }

    private func checkValues(_ fields: YAMLFields) throws {
        let isRaw =
            switch format {
            case .serviceData, .manufacturerData: true
            default: false
            }
        guard isRaw == !values.isEmpty else {
            throw fields.error(nil, isRaw ? "lacks the field values" : "has values of its own, and takes no others")
        }
        var ids: Set<String> = ["status", "signal-strength"]
        for value in values where !ids.insert(value.id).inserted {
            throw fields.error("values", "a value cannot be named \(value.id), or two are")
        }
        guard values.count <= Advertiser.valueLimit else {
            throw fields.error("values", "has more than \(Advertiser.valueLimit) elements")
        }
    }

    private static func format(_ fields: YAMLFields) throws -> Format {
        let name = try fields.requiredText("format")
        for (key, owner) in [
            ("uuid", "ibeacon"), ("major", "ibeacon"), ("minor", "ibeacon"), ("service", "service-data"),
            ("company", "manufacturer-data"),
        ] where fields.has(key) && name != owner {
            throw fields.error(key, "is a field of the format \(owner)")
        }
        switch name {
        case "bthome": return .btHome
        case "eddystone": return .eddystone
        case "ruuvi": return .ruuvi
        case "ibeacon":
            let text = try fields.requiredText("uuid")
            guard let uuid = UUID(uuidString: text) else { throw fields.error("uuid", "\"\(text)\" is no UUID") }
            return .iBeacon(uuid, major: try fields.number16("major"), minor: try fields.number16("minor"))
        case "service-data":
            let text = try fields.requiredText("service")
            // `CBUUID` traps for other text.
            let isShort =
                [4, 8].contains(text.utf8.count) && text.utf8.count == text.count && text.allSatisfy(\.isHexDigit)
            guard isShort || UUID(uuidString: text) != nil else {
                throw fields.error("service", "\"\(text)\" is no UUID of a service")
            }
            return .serviceData(CBUUID(string: text))
        case "manufacturer-data":
            guard let company = try fields.number16("company") else {
                throw fields.error(nil, "lacks the field company")
            }
            return .manufacturerData(company: company)
        default: throw fields.error("format", "\"\(name)\" is none of \(formats.joined(separator: ", "))")
        }
    }
}

extension AdvertisementRule.RawValue {
    fileprivate init(_ fields: YAMLFields) throws {
        id = try fields.name("id")
        name = try fields.text("name") ?? id
        format = try fields.format()
        unit = try fields.text("unit")
        deviceClass = try fields.text("deviceClass")
        stateClass = try fields.text("stateClass") ?? (format.isNumber ? "measurement" : nil)
    }
}

extension YAMLFields {
    /// Reads a number of 16 bits, decimal or with `0x` in front.
    fileprivate func number16(_ key: String) throws -> UInt16? {
        guard let text = try text(key) else { return nil }
        let number = text.hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
        guard let number else { throw error(key, "\"\(text)\" must be 0 to 65535, or 0x0000 to 0xFFFF") }
        return number
    }
}
