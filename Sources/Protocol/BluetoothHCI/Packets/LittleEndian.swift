extension [UInt8] {
    /// Appends an integer, least significant byte first.
    package mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    /// Appends an integer, most significant byte first.
    package mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

extension FixedWidthInteger {
    /// The bytes, least significant first.
    package var bytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}
