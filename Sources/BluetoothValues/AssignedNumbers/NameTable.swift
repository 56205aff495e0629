/// Names by 16-bit number, as text that needs no set-up and no memory but its own.
///
/// A row has the names of 16 consecutive numbers, separated by tabs, behind the three hexadecimal digits that they share:
/// `180⇥Generic Access⇥Generic Attribute⇥…` are 0x1800, 0x1801 and so on. An unassigned number has an empty name. Rows
/// are in ascending order, and end with a line feed, all but the last.
struct NameTable {
    private let text: StaticString

    init(_ text: StaticString) { self.text = text }

    /// The name of a number; nil where none is assigned.
    subscript(number: UInt16) -> String? {
        text.withUTF8Buffer { bytes in
            guard let row = Self.row(number >> 4, of: bytes) else { return nil }
            let names = bytes[row].split(separator: Self.tab, omittingEmptySubsequences: false).dropFirst()
            let index = names.startIndex + Int(number & 15)
            guard index < names.endIndex, !names[index].isEmpty else { return nil }
            return String(decoding: names[index], as: UTF8.self)
        }
    }

    /// All names, in the order of their numbers.
    var names: [String] {
        text.withUTF8Buffer { bytes in
            bytes.split(separator: Self.lineFeed).flatMap { row in
                row.split(separator: Self.tab).dropFirst().map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    private static let tab = UInt8(ascii: "\t")
    private static let lineFeed = UInt8(ascii: "\n")

    /// The bytes of the row that begins with `key`, found by bisection.
    private static func row(_ key: UInt16, of bytes: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        var (low, high) = (0, bytes.count)
        while low < high {
            let middle = (low + high) / 2
            let start = bytes[low..<middle].lastIndex(of: lineFeed).map { $0 + 1 } ?? low
            let end = bytes[middle..<high].firstIndex(of: lineFeed) ?? high
            let found = bytes[start..<end].prefix(3).reduce(0) { $0 << 4 | hexDigit($1) }
            if found == key { return start..<end }
            if found < key { low = min(end + 1, high) } else { high = max(start - 1, low) }
        }
        return nil
    }

    private static func hexDigit(_ character: UInt8) -> UInt16 {
        UInt16(character < UInt8(ascii: "A") ? character - UInt8(ascii: "0") : character - UInt8(ascii: "A") + 10)
    }
}
