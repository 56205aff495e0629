/// One field of an advertised value: a name, a value and a unit.
///
/// Tools print fields, and gateways pass them on, without knowing the format that they came in.
public struct AdvertisedField: Hashable, Sendable, CustomStringConvertible {
    /// What a field holds.
    public enum Value: Hashable, Sendable {
        /// A number, and how many decimal digits its resolution gives, 0...9.
        case number(Double, digits: Int)
        /// A state that is on or off, present or absent.
        case flag(Bool)
        /// Text, an identifier, or bytes in hexadecimal.
        case text(String)
    }

    /// The name in lower case, as the format's specification has it: "temperature", "major".
    public let name: String
    /// The value.
    public let value: Value
    /// The unit: "°C", "%", "hPa"; nil where there is none.
    public let unit: String?

    /// A field.
    public init(_ name: String, _ value: Value, unit: String? = nil) {
        self.name = name
        self.value = value
        self.unit = unit
    }

    /// A whole number.
    init(_ name: String, _ number: some BinaryInteger, unit: String? = nil) {
        self.init(name, .number(Double(number), digits: 0), unit: unit)
    }

    /// The number `mantissa` times ten to the minus `digits`; nil for a mantissa that is not available.
    init?(_ name: String, _ mantissa: Int?, digits: Int, unit: String? = nil) {
        guard let mantissa else { return nil }
        self.init(name, .number(Decimals.scaled(mantissa, exponent: -digits), digits: digits), unit: unit)
    }

    /// `temperature 24.30 °C`.
    public var description: String {
        let text =
            switch value {
            case .number(let number, let digits): Decimals.fixed(number, digits)
            case .flag(let flag): flag ? "yes" : "no"
            case .text(let text): text
            }
        return "\(name) \(text)" + (unit.map { " \($0)" } ?? "")
    }
}
