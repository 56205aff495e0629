import Foundation

/// Decimal numbers as people write them, whatever the locale.
enum Decimals {
    /// `mantissa` times ten to the `exponent`, with one rounding.
    static func scaled(_ mantissa: Int, exponent: Int) -> Double {
        exponent < 0
            ? Double(mantissa) / pow(10, Double(-exponent))
            : Double(mantissa) * pow(10, Double(exponent))
    }

    /// `value` with exactly `digits` digits after the point, 0...9.
    static func fixed(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
        let power = pow(10, Double(digits))
        let whole = Int64((value.magnitude * power).rounded())
        let sign = value < 0 && whole != 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let divisor = Int64(power)
        let fraction = String(whole % divisor)
        return sign + String(whole / divisor) + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// Two digits, as in dates.
    static func pair(_ value: some BinaryInteger) -> String {
        value < 10 ? "0\(value)" : "\(value)"
    }

    /// Hexadecimal digits, upper case, at least `width`.
    static func hex(_ value: some BinaryInteger, width: Int) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
