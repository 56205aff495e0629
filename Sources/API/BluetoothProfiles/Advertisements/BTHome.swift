import BluetoothSupport
public import CoreBluetooth

/// A broadcast in the format BTHome, version 2: the service data of FCD2.
///
/// Source: BTHome, "Format", version 2.
public struct BTHomeAdvertisement: AdvertisedFormat, CustomStringConvertible {
    /// The service whose data have the format.
    public static var service: CBUUID { CBUUID(string: "FCD2") }

    /// Whether the device sends only when something happens, such as a button.
    public let isTriggered: Bool
    /// The measurements in the order of the bytes; empty if encrypted.
    public let measurements: [BTHomeMeasurement]
    /// The bytes of an encrypted advertisement, which only the device's owner can read: data, counter and check.
    public let encrypted: Data?
    /// The bytes from the first object on whose number, and therefore length, this package does not know.
    public let unknown: Data

    private static let encryption: UInt8 = 0x01
    private static let trigger: UInt8 = 0x04
    private static let version: UInt8 = 2

    /// Creates an unencrypted advertisement; the format requires ascending order of the objects.
    public init(_ measurements: [BTHomeMeasurement], isTriggered: Bool = false) {
        self.measurements = measurements
        self.isTriggered = isTriggered
        encrypted = nil
        unknown = Data()
    }

    /// Reads service data.
    ///
    /// - Throws: ``GATTValueError``, also if the version is not 2.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let information = try reader.uint8("Device Information")
        guard information >> 5 == Self.version else { throw reader.reserved(information, "Device Information") }
        isTriggered = information & Self.trigger != 0
        guard information & Self.encryption == 0 else {
            encrypted = try reader.bytes("Encrypted Data")
            measurements = []
            unknown = Data()
            return
        }
        encrypted = nil
        var measurements: [BTHomeMeasurement] = []
        var unknown = Data()
        while reader.count > 0 {
            let object = try reader.uint8("Object ID")
            guard let kind = BTHomeMeasurement.Kind.all[object] else {
                unknown = Data([object]) + (try reader.bytes("Object"))
                break
            }
            let length = if let length = kind.length { length } else { Int(try reader.uint8("Length")) }
            measurements.append(BTHomeMeasurement(object, kind, try reader.bytes(kind.name, count: length)))
        }
        self.measurements = measurements
        self.unknown = unknown
    }

    /// Writes service data.
    public func write(to writer: inout GATTWriter) {
        let flags = (isTriggered ? Self.trigger : 0) | (encrypted == nil ? 0 : Self.encryption)
        writer.append(Self.version << 5 | flags)
        for measurement in measurements { measurement.write(to: &writer) }
        writer.append(bytes: encrypted ?? unknown)
    }

    /// "BTHome".
    public static var valueName: String { "BTHome" }

    /// The measurements.
    public var fields: [AdvertisedField] {
        guard encrypted == nil else { return [AdvertisedField("encrypted", .flag(true))] }
        return measurements.map(\.field)
    }

    /// The fields in one line.
    public var description: String { fields.map(\.description).joined(separator: ", ") }
}

/// One object of a BTHome advertisement: a number, a state, an event, text or bytes.
///
/// Source: BTHome, "Format", version 2: sensor data, binary sensor data, events, device information.
public struct BTHomeMeasurement: Hashable, Sendable, CustomStringConvertible {
    /// The value of a measurement.
    public enum Value: Hashable, Sendable {
        /// A number in ``BTHomeMeasurement/unit``.
        case number(Double)
        /// A state: a door is open, motion is detected.
        case state(Bool)
        /// An event by name: "press", "rotate left 3"; "none" if another object of the same kind has an event.
        case event(String)
        /// Text.
        case text(String)
        /// Bytes that the format does not explain.
        case raw(Data)
    }

    /// The number of the object: 0x02 is a temperature.
    public let object: UInt8
    /// The bytes after the object's number, and after the length if the object has one.
    public let bytes: Data
    private let kind: Kind

    /// Creates an object from its number and bytes.
    ///
    /// - Returns: nil for an unknown number, or for bytes of the wrong length.
    public init?(object: UInt8, bytes: Data) {
        guard let kind = Kind.all[object] else { return nil }
        guard kind.length.map({ $0 == bytes.count }) ?? (bytes.count <= 0xFF) else { return nil }
        self.init(object, kind, bytes)
    }

    init(_ object: UInt8, _ kind: Kind, _ bytes: Data) {
        self.object = object
        self.kind = kind
        self.bytes = bytes
    }

    func write(to writer: inout GATTWriter) {
        writer.append(object)
        if kind.length == nil { writer.append(UInt8(truncatingIfNeeded: bytes.count)) }
        writer.append(bytes: bytes)
    }

    /// The measured quantity: "temperature".
    public var name: String { kind.name }

    /// The unit: "°C"; nil for a measurement without one.
    public var unit: String? { kind.unit }

    /// The value of the bytes.
    public var value: Value {
        switch kind.content {
        case .number(_, let multiplier, let digits):
            .number(Decimals.scaled(integer * multiplier, exponent: -digits))
        case .state: .state(bytes.first.map { $0 != 0 } ?? false)
        case .button: .event(Self.buttonEvents[bytes.first ?? 0] ?? "event \(bytes.first ?? 0)")
        case .dimmer: .event(dimmerEvent)
        case .version: .text(bytes.reversed().map(String.init).joined(separator: "."))
        case .text: .text(String(decoding: bytes, as: UTF8.self))
        case .raw: .raw(bytes)
        }
    }

    /// The bytes as a number, least significant first.
    private var integer: Int {
        var number = 0
        for byte in bytes.reversed() { number = number << 8 | Int(byte) }
        guard case .number(isSigned: true, _, _) = kind.content else { return number }
        let unused = Int.bitWidth - 8 * bytes.count
        return (number << unused) >> unused
    }

    private static let buttonEvents: [UInt8: String] = [
        0x00: "none", 0x01: "press", 0x02: "double press", 0x03: "triple press", 0x04: "long press",
        0x05: "long double press", 0x06: "long triple press", 0x80: "hold press",
    ]

    private var dimmerEvent: String {
        let steps = bytes.last ?? 0
        return switch bytes.first ?? 0 {
        case 0x00: "none"
        case 0x01: "rotate left \(steps)"
        case 0x02: "rotate right \(steps)"
        default: "event \(bytes.first ?? 0)"
        }
    }

    /// The measurement with name and unit.
    public var field: AdvertisedField {
        switch value {
        case .number(let number):
            guard case .number(_, _, let digits) = kind.content else { break }
            return AdvertisedField(name, .number(number, digits: digits), unit: unit)
        case .state(let state): return AdvertisedField(name, .flag(state))
        case .event(let text), .text(let text): return AdvertisedField(name, .text(text))
        case .raw: break
        }
        return AdvertisedField(name, .text(bytes.hexText))
    }

    /// `temperature 25.06 °C`.
    public var description: String { field.description }
}

extension BTHomeMeasurement {
    /// The meaning of an object's number.
    struct Kind: Hashable, Sendable {
        /// The kind of the bytes.
        enum Content: Hashable, Sendable {
            /// An integer times `multiplier` times ten to the minus `digits`.
            case number(isSigned: Bool, multiplier: Int, digits: Int)
            case state, button, dimmer
            /// The parts of a version, the last one first.
            case version
            case text, raw
        }

        let name: String
        let unit: String?
        /// The number of bytes after the object's number; nil if a length byte comes first.
        let length: Int?
        let content: Content

        private static func number(_ name: String, _ unit: String?, _ length: Int, digits: Int = 0) -> Kind {
            let content = Content.number(isSigned: false, multiplier: 1, digits: digits)
            return Kind(name: name, unit: unit, length: length, content: content)
        }

        private static func signed(
            _ name: String, _ unit: String?, _ length: Int, digits: Int = 0, multiplier: Int = 1
        ) -> Kind {
            let content = Content.number(isSigned: true, multiplier: multiplier, digits: digits)
            return Kind(name: name, unit: unit, length: length, content: content)
        }

        private static func state(_ name: String) -> Kind { Kind(name: name, unit: nil, length: 1, content: .state) }

        /// The kinds by the object's number.
        static let all: [UInt8: Kind] = numbers.merging(moreNumbers) { $1 }.merging(states) { $1 }.merging([
            0x3A: Kind(name: "button", unit: nil, length: 1, content: .button),
            0x3C: Kind(name: "dimmer", unit: nil, length: 2, content: .dimmer),
            0x53: Kind(name: "text", unit: nil, length: nil, content: .text),
            0x54: Kind(name: "raw", unit: nil, length: nil, content: .raw),
            0xF0: number("device type", nil, 2),
            0xF1: Kind(name: "firmware version", unit: nil, length: 4, content: .version),
            0xF2: Kind(name: "firmware version", unit: nil, length: 3, content: .version),
        ]) { $1 }

        private static let numbers: [UInt8: Kind] = [
            0x00: number("packet", nil, 1), 0x01: number("battery", "%", 1),
            0x02: signed("temperature", "°C", 2, digits: 2), 0x03: number("humidity", "%", 2, digits: 2),
            0x04: number("pressure", "hPa", 3, digits: 2), 0x05: number("illuminance", "lx", 3, digits: 2),
            0x06: number("mass", "kg", 2, digits: 2), 0x07: number("mass", "lb", 2, digits: 2),
            0x08: signed("dew point", "°C", 2, digits: 2), 0x09: number("count", nil, 1),
            0x0A: number("energy", "kWh", 3, digits: 3), 0x0B: number("power", "W", 3, digits: 2),
            0x0C: number("voltage", "V", 2, digits: 3), 0x0D: number("PM2.5", "µg/m³", 2),
            0x0E: number("PM10", "µg/m³", 2), 0x12: number("CO2", "ppm", 2), 0x13: number("TVOC", "µg/m³", 2),
            0x14: number("moisture", "%", 2, digits: 2), 0x2E: number("humidity", "%", 1),
            0x2F: number("moisture", "%", 1), 0x3D: number("count", nil, 2), 0x3E: number("count", nil, 4),
            0x3F: signed("rotation", "°", 2, digits: 1), 0x40: number("distance", "mm", 2),
            0x41: number("distance", "m", 2, digits: 1), 0x42: number("duration", "s", 3, digits: 3),
            0x43: number("current", "A", 2, digits: 3), 0x44: number("speed", "m/s", 2, digits: 2),
            0x45: signed("temperature", "°C", 2, digits: 1), 0x46: number("UV index", nil, 1, digits: 1),
            0x47: number("volume", "l", 2, digits: 1), 0x48: number("volume", "ml", 2),
            0x49: number("volume flow rate", "m³/h", 2, digits: 3), 0x4A: number("voltage", "V", 2, digits: 1),
        ]

        private static let moreNumbers: [UInt8: Kind] = [
            0x4B: number("gas", "m³", 3, digits: 3), 0x4C: number("gas", "m³", 4, digits: 3),
            0x4D: number("energy", "kWh", 4, digits: 3), 0x4E: number("volume", "l", 4, digits: 3),
            0x4F: number("water", "l", 4, digits: 3), 0x50: number("time", "s since 1970", 4),
            0x51: number("acceleration", "m/s²", 2, digits: 3), 0x52: number("gyroscope", "°/s", 2, digits: 3),
            0x55: number("volume storage", "l", 4, digits: 3), 0x56: number("conductivity", "µS/cm", 2),
            0x57: signed("temperature", "°C", 1), 0x58: signed("temperature", "°C", 1, digits: 2, multiplier: 35),
            0x59: signed("count", nil, 1), 0x5A: signed("count", nil, 2), 0x5B: signed("count", nil, 4),
            0x5C: signed("power", "W", 4, digits: 2), 0x5D: signed("current", "A", 2, digits: 3),
            0x5E: number("direction", "°", 2, digits: 2), 0x5F: number("precipitation", "mm", 2, digits: 1),
            0x60: number("channel", nil, 1), 0x61: number("rotational speed", "rpm", 2),
            0x62: signed("speed", "m/s", 4, digits: 6), 0x63: signed("acceleration", "m/s²", 4, digits: 6),
            0x64: number("light level", nil, 1),
        ]

        private static let states: [UInt8: Kind] = [
            0x0F: state("state"), 0x10: state("power on"), 0x11: state("opening"), 0x15: state("battery low"),
            0x16: state("battery charging"), 0x17: state("carbon monoxide"), 0x18: state("cold"),
            0x19: state("connectivity"), 0x1A: state("door open"), 0x1B: state("garage door open"),
            0x1C: state("gas detected"), 0x1D: state("heat"), 0x1E: state("light"), 0x1F: state("unlocked"),
            0x20: state("moisture detected"), 0x21: state("motion"), 0x22: state("moving"), 0x23: state("occupancy"),
            0x24: state("plugged in"), 0x25: state("presence"), 0x26: state("problem"), 0x27: state("running"),
            0x28: state("safe"), 0x29: state("smoke"), 0x2A: state("sound"), 0x2B: state("tampered"),
            0x2C: state("vibration"), 0x2D: state("window open"),
        ]
    }
}
