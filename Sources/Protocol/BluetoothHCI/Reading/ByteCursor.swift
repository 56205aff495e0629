/// Reads integers and bytes from the front of an array.
package struct ByteCursor: Sendable {
    private let bytes: ArraySlice<UInt8>
    /// The index of the next byte.
    package private(set) var offset: Int

    package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    package var count: Int { bytes.endIndex - offset }
    package var isAtEnd: Bool { count == 0 }

    /// The remaining bytes.
    package var rest: ArraySlice<UInt8> { bytes[offset...] }

    /// Returns the next bytes; nil if fewer remain, in which case none is consumed.
    package mutating func next(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= self.count else { return nil }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    package mutating func littleEndian<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        next(Value.bitWidth / 8).map { $0.reversed().reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) } }
    }

    package mutating func bigEndian<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) -> Value? {
        next(Value.bitWidth / 8).map { $0.reduce(0) { $0 << 8 | Value(truncatingIfNeeded: $1) } }
    }

    package mutating func byte() -> UInt8? { next(1)?.first }
}
