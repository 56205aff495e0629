import Foundation

/// Characteristic Presentation Format (2904).
///
/// Sources: Core Specification, Vol 3, Part G, 3.3.3.5; Assigned Numbers, section 2.4.
struct PresentationFormat: StandardValue, Equatable {
    private static let formats: [UInt8: String] = [
        0x01: "boolean", 0x02: "uint2", 0x03: "uint4", 0x04: "uint8", 0x05: "uint12", 0x06: "uint16", 0x07: "uint24",
        0x08: "uint32", 0x09: "uint48", 0x0A: "uint64", 0x0B: "uint128", 0x0C: "sint8", 0x0D: "sint12",
        0x0E: "sint16", 0x0F: "sint24", 0x10: "sint32", 0x11: "sint48", 0x12: "sint64", 0x13: "sint128",
        0x14: "float32", 0x15: "float64", 0x16: "medfloat16", 0x17: "medfloat32", 0x18: "uint16 pair",
        0x19: "utf8s", 0x1A: "utf16s", 0x1B: "struct", 0x1C: "medASN1",
    ]

    let text: String

    init?(_ data: Data) {
        var reader = ByteReader(data)
        guard let format = reader.uint8(), let exponent = reader.int8(), let unit = reader.uint16(),
            reader.uint8() != nil, reader.uint16() != nil, reader.count == 0
        else { return nil }
        text =
            "\(Self.formats[format] ?? "format \(format)"), exponent \(exponent), "
            + "unit \(Decimals.hex(unit, width: 4))"
    }
}
