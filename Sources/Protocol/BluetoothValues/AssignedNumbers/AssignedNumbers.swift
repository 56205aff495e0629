/// The names that the Bluetooth SIG assigns to 16-bit numbers.
///
/// Each kind has a table of its own, which only a program that asks for such names carries. Swift on Linux makes the
/// linker retain what a module declares for others, used or not; so all of this is `@_alwaysEmitIntoClient`, and is
/// compiled into the modules that call it.
///
/// Source: Assigned Numbers, https://www.bluetooth.com/specifications/assigned-numbers/.
public enum AssignedNumbers {
    /// The name of a service, characteristic or descriptor; their numbers do not overlap.
    @_alwaysEmitIntoClient
    package static func attribute(_ uuid: UInt16) -> String? {
        service(uuid) ?? characteristic(uuid) ?? descriptor(uuid)
    }

    /// The names of all services, characteristics and descriptors, sorted, each once.
    @_alwaysEmitIntoClient
    package static var attributeNames: [String] {
        Set([services, characteristics, descriptors].flatMap(names)).sorted()
    }
}

/// Tables are text that is searched in place: they need no set-up, and no memory but their own.
///
/// A row has the names of 16 consecutive numbers, separated by tabs, behind the three hexadecimal digits that they share:
/// `180⇥Generic Access⇥Generic Attribute⇥…` are 0x1800, 0x1801 and so on. An unassigned number has an empty name. Rows
/// are in ascending order, and end with a line feed, all but the last.
extension AssignedNumbers {
    /// The name of a number in a table; nil where none is assigned.
    @_alwaysEmitIntoClient
    static func name(of number: UInt16, in table: StaticString) -> String? {
        table.withUTF8Buffer { bytes in
            guard let row = row(number >> 4, of: bytes) else { return nil }
            let names = bytes[row].split(separator: tab, omittingEmptySubsequences: false).dropFirst()
            let index = names.startIndex + Int(number & 15)
            guard index < names.endIndex, !names[index].isEmpty else { return nil }
            return String(decoding: names[index], as: UTF8.self)
        }
    }

    /// All names of a table, in the order of their numbers.
    @_alwaysEmitIntoClient
    static func names(in table: StaticString) -> [String] {
        table.withUTF8Buffer { bytes in
            bytes.split(separator: lineFeed).flatMap { row in
                row.split(separator: tab).dropFirst().map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    @_alwaysEmitIntoClient
    static var tab: UInt8 { UInt8(ascii: "\t") }

    @_alwaysEmitIntoClient
    static var lineFeed: UInt8 { UInt8(ascii: "\n") }

    /// The bytes of the row that begins with `key`, found by bisection.
    @_alwaysEmitIntoClient
    static func row(_ key: UInt16, of bytes: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
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

    @_alwaysEmitIntoClient
    static func hexDigit(_ character: UInt8) -> UInt16 {
        UInt16(character < UInt8(ascii: "A") ? character - UInt8(ascii: "0") : character - UInt8(ascii: "A") + 10)
    }
}
