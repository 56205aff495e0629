public import Foundation

/// One object of a BTHome advertisement: a number, a state, an event, text or bytes.
///
/// Source: BTHome, "Format", version 2: sensor data, binary sensor data, events, device information.
public struct BTHomeMeasurement: Hashable, Sendable, CustomStringConvertible {
    /// What a measurement says.
    public enum Value: Hashable, Sendable {
        /// A number in ``BTHomeMeasurement/unit``.
        case number(Double)
        /// A state: a door is open, motion is detected.
        case state(Bool)
        /// An event by name: "press", "rotate left 3"; "none" where another object of the same kind has one.
        case event(String)
        /// Text.
        case text(String)
        /// Bytes that the format does not explain.
        case raw(Data)
    }

    /// The number of the object: 0x02 is a temperature.
    public let object: UInt8
    /// The bytes behind the object's number, and behind the length where there is one.
    public let bytes: Data
    private let kind: Kind

    /// An object by number and bytes.
    ///
    /// - Returns: nil for a number that is not known, or for bytes that are not as long as the object's are.
    public init?(object: UInt8, bytes: Data) {
        guard let kind = Kind.all[object] else { return nil }
        switch kind.content {
        case .text, .raw: guard bytes.count <= 0xFF else { return nil }
        default: guard bytes.count == kind.length else { return nil }
        }
        self.init(object, kind, bytes)
    }

    init(_ object: UInt8, _ kind: Kind, _ bytes: Data) {
        self.object = object
        self.kind = kind
        self.bytes = bytes
    }

    func write(to writer: inout GATTWriter) {
        writer.append(object)
        switch kind.content {
        case .text, .raw: writer.append(UInt8(truncatingIfNeeded: bytes.count))
        default: break
        }
        writer.append(bytes: bytes)
    }

    /// What is measured: "temperature".
    public var name: String { kind.name }

    /// The unit: "°C"; nil where there is none.
    public var unit: String? { kind.unit }

    /// What the bytes say.
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
        return AdvertisedField(name, .text(bytes.map { Decimals.hex($0, width: 2) }.joined()))
    }

    /// `temperature 25.06 °C`.
    public var description: String { field.description }
}
