extension Data {
    /// Returns the value with one bit flipped; an empty value becomes one byte.
    package func flippingBit(by random: UInt64) -> Data {
        guard !isEmpty else { return Data([UInt8(truncatingIfNeeded: random)]) }
        var bytes = [UInt8](self)
        let bit = Int(random % UInt64(bytes.count * 8))
        bytes[bit / 8] ^= 1 << (bit % 8)
        return Data(bytes)
    }

    /// Returns another value in place of this one: truncated, lengthened, empty, or with one bit flipped.
    ///
    /// - Parameter maximum: The maximum length of the result, at least 1 byte.
    package func malformed(by random: UInt64, upTo maximum: Int) -> Data {
        let number = random / 4
        switch random % 4 {
        case 0 where count > 1: return Data(prefix(1 + Int(number % UInt64(count - 1))))
        case 1 where count < maximum:
            let added = 1 + Int(number % UInt64(Swift.min(4, maximum - count)))
            return self + (0..<added).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        case 2 where !isEmpty: return Data()
        default: return flippingBit(by: number)
        }
    }
}
