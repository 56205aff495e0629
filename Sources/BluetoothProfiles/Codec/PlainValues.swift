#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension GATTValue where Self: FixedWidthInteger {
    /// Reads all bytes of the integer.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        self = try reader.integer("Integer")
    }

    /// The name of the type: "UInt16".
    public static var valueName: String { "\(Self.self)" }

    /// Writes all bytes of the integer.
    public func write(to writer: inout GATTWriter) { writer.append(self, bytes: Self.bitWidth / 8) }
}

extension UInt8: GATTValue {}
extension UInt16: GATTValue {}
extension UInt32: GATTValue {}
extension UInt64: GATTValue {}
extension Int8: GATTValue {}
extension Int16: GATTValue {}
extension Int32: GATTValue {}
extension Int64: GATTValue {}

extension Bool: GATTValue {
    /// Reads a byte: 0 is false, 1 is true, all else is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        self = try reader.uint8("Boolean", in: 0...1) == 1
    }

    /// Writes a byte, 0 or 1.
    public func write(to writer: inout GATTWriter) { writer.append(UInt8(self ? 1 : 0)) }
}

extension String: GATTValue {
    /// Reads UTF-8 up to the end of the value, without the zeros that some devices fill it up with.
    public init(from reader: inout GATTReader) throws(GATTValueError) { self = try reader.text("String") }

    /// Writes UTF-8 without a zero at its end.
    public func write(to writer: inout GATTWriter) { writer.append(text: self) }
}

extension Data: GATTValue {
    /// Takes all bytes.
    public init(from reader: inout GATTReader) throws(GATTValueError) { self = try reader.bytes("Data") }

    /// Writes all bytes.
    public func write(to writer: inout GATTWriter) { writer.append(bytes: self) }
}
