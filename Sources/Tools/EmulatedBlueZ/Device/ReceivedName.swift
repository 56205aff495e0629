#if os(Linux)
/// A received device name as `bluetoothd` shows it.
///
/// Source: BlueZ, `src/eir.c` and `profiles/gap/gas.c`, `name2utf8`.
enum ReceivedName {
    private static let replacement: Unicode.Scalar = "\u{FFFD}"

    /// The text that clients see.
    ///
    /// D-Bus carries neither zero bytes nor invalid UTF-8; one such text would make the whole message fail. Zero bytes
    /// at the end are dropped. If other zero bytes are left, or the bytes were not UTF-8, the name ends at the first
    /// zero byte, each byte beyond ASCII becomes a space, and white space at both ends is removed.
    ///
    /// - Parameter name: The received name, in which the decoder replaced bytes that are not UTF-8 by U+FFFD.
    static func shown(_ name: String) -> String {
        var scalars = Array(name.unicodeScalars)
        while scalars.last == "\0" { scalars.removeLast() }
        if scalars.contains(where: { $0 == "\0" || $0 == replacement }) {
            scalars = scalars.prefix { $0 != "\0" }.flatMap(ascii)
            scalars.removeFirst(scalars.prefix(while: isSpace).count)
            while scalars.last.map(isSpace) == true { scalars.removeLast() }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The scalar, or a space for each byte beyond ASCII.
    private static func ascii(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if scalar.isASCII { return [scalar] }
        return Array(repeating: " ", count: scalar == replacement ? 1 : UTF8.width(scalar))
    }

    /// Whether a scalar is white space as defined by GLib, which excludes the vertical tab.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        [" ", "\t", "\n", "\u{C}", "\r"].contains(scalar)
    }
}
#endif
