import BluetoothSupport

extension Data {
    /// Adds a number, least significant byte first.
    mutating func append(littleEndian value: some FixedWidthInteger) {
        for index in 0..<value.bitWidth / 8 { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }

    /// A number, least significant byte first.
    init(littleEndian value: some FixedWidthInteger) {
        self.init()
        append(littleEndian: value)
    }

    /// The number at an offset, least significant byte first; nil where the value is too short.
    func littleEndian<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number? {
        let size = Number.bitWidth / 8
        guard offset >= 0, offset + size <= count else { return nil }
        return dropFirst(offset).prefix(size).reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}
