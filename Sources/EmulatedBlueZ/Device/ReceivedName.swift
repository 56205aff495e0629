#if os(Linux)
/// A name of a device, as `bluetoothd` shows what was received.
///
/// Source: BlueZ, `src/eir.c` and `profiles/gap/gas.c`, `name2utf8`.
enum ReceivedName {
    private static let replacement: Unicode.Scalar = "\u{FFFD}"

    /// The text that clients see.
    ///
    /// D-Bus carries neither zero bytes nor broken UTF-8, and one such text would fail the whole message. Zero bytes at
    /// the end are dropped. Where others are left, or the bytes were no UTF-8, the name ends at the first zero byte, each
    /// byte beyond ASCII becomes a space, and white space at both ends goes.
    ///
    /// - Parameter name: What was received; the decoder put U+FFFD in place of bytes that are no UTF-8.
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

    /// A space for each byte beyond ASCII.
    private static func ascii(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if scalar.isASCII { return [scalar] }
        return Array(repeating: " ", count: scalar == replacement ? 1 : UTF8.width(scalar))
    }

    /// White space of GLib, to which the vertical tab does not belong.
    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        [" ", "\t", "\n", "\u{C}", "\r"].contains(scalar)
    }
}
#endif
