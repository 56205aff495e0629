/// Beacons send their numbers most significant byte first.
extension GATTReader {
    /// The next integer, most significant byte first.
    ///
    /// - Throws: That the value is too short.
    mutating func bigEndian<Number: FixedWidthInteger>(
        _ field: @autoclosure () -> String
    ) throws(GATTValueError) -> Number {
        let number: Number = try integer(field())
        return number.byteSwapped
    }

    /// The next byte, which has to be this one.
    ///
    /// - Throws: That another one is reserved: the value has another format.
    mutating func constant(_ byte: UInt8, _ field: @autoclosure () -> String) throws(GATTValueError) {
        _ = try uint8(field(), in: byte...byte)
    }
}

extension GATTWriter {
    /// Appends an integer, most significant byte first.
    mutating func append(bigEndian number: some FixedWidthInteger) { append(number.byteSwapped) }
}
