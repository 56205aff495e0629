#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A typed value of a characteristic or descriptor, with its layout in both directions.
///
/// Bytes come from a peer and may be anything: decoding throws a ``GATTValueError`` that names the field, and never traps.
/// Encoding cannot fail: a value is always one that its layout can express. Numbers are little-endian.
/// Source: Core Specification, Vol 3, Part G, 2.4; GATT Specification Supplement.
public protocol GATTValue: Hashable, Sendable {
    /// Takes the value's fields off the front of the bytes.
    ///
    /// - Throws: What is missing, reserved or malformed; not what is left over, which ``init(decoding:)`` checks.
    init(from reader: inout GATTReader) throws(GATTValueError)

    /// Appends the value's fields.
    func write(to writer: inout GATTWriter)

    /// Whether bytes after the last field are ignored, as the services with a field of flags demand; false by default.
    static var ignoresTrailingBytes: Bool { get }

    /// What errors call the value; the name of the type in words by default: "Heart Rate Measurement".
    static var valueName: String { get }
}

extension GATTValue {
    /// No byte may follow the last field.
    public static var ignoresTrailingBytes: Bool { false }

    /// The name of the type in words.
    public static var valueName: String { TypeName.words(of: Self.self) }

    /// Decodes the whole value of a characteristic or descriptor.
    ///
    /// `data`: The value as it was read or notified; a slice is read from its own start.
    /// - Throws: The field that is too short, reserved or malformed, or how many bytes are too many.
    public init(decoding data: Data) throws(GATTValueError) {
        var reader = GATTReader(data, of: Self.self)
        try self.init(from: &reader)
        guard reader.count == 0 || Self.ignoresTrailingBytes else { throw reader.leftOver }
    }

    /// The bytes of the value.
    public var encoded: Data {
        var writer = GATTWriter()
        write(to: &writer)
        return writer.data
    }
}

extension GATTValue where Self: RawRepresentable, RawValue: FixedWidthInteger {
    /// Reads the raw value.
    ///
    /// - Throws: That it is reserved where no case has it. The bits of an option set are all kept.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        let raw: RawValue = try reader.integer(Self.valueName)
        guard let value = Self(rawValue: raw) else { throw reader.reserved(raw, Self.valueName) }
        self = value
    }

    /// Writes the raw value.
    public func write(to writer: inout GATTWriter) { writer.append(rawValue) }
}
