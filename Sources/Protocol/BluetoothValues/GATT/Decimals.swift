/// Decimal numbers for people, independent of the locale.
package enum Decimals {
    /// Returns ten to the `exponent`, 0...22, which is exact.
    package static func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { power, _ in power * 10 } }

    /// Returns `mantissa` times ten to the `exponent`, with one rounding.
    package static func scaled(_ mantissa: Int, exponent: Int) -> Double {
        // The text form rounds once; a product of powers would round several times.
        Double("\(mantissa)e\(exponent)") ?? .nan
    }

    /// Returns `value` with exactly `digits` digits after the point, 0...9.
    package static func fixed(_ value: Double, _ digits: Int) -> String {
        let power = power(digits)
        guard value.isFinite, value.magnitude < 1e12, value.magnitude * power < 9e18 else { return "\(value)" }
        let whole = Int64((value.magnitude * power).rounded())
        let sign = value < 0 && whole != 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let divisor = Int64(power)
        let fraction = String(whole % divisor)
        return sign + String(whole / divisor) + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// Returns two digits, as in dates.
    package static func pair(_ value: some BinaryInteger) -> String {
        value < 10 ? "0\(value)" : "\(value)"
    }

    /// Returns at least `width` hexadecimal digits in upper case.
    package static func hex(_ value: some BinaryInteger, width: Int) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
