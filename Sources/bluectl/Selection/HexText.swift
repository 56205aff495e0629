import BluetoothProfiles
import Foundation

/// Bytes as hexadecimal digits.
enum HexText {
    /// Reads digits in pairs, either letter case, with an optional `0x` in front; spaces, `:`, `-`, `_`, `.` and `,`
    /// may stand between bytes.
    ///
    /// - Throws: A usage failure that says what is wrong.
    static func data(_ text: String) throws(Failure) -> Data {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
        var bytes = Data()
        var high: UInt8?
        for character in digits {
            if let digit = character.hexDigitValue, character.isASCII {
                if let first = high {
                    bytes.append(first << 4 | UInt8(digit))
                    high = nil
                } else {
                    high = UInt8(digit)
                }
            } else if " :-_.,".contains(character) {
                guard high == nil else { throw incomplete(text) }
            } else {
                let shown = PrintableText.of(text)
                throw Failure(.usage, "\"\(shown)\" is not hexadecimal: use digits 0-9 and A-F, or --text")
            }
        }
        guard high == nil else { throw incomplete(text) }
        return bytes
    }

    /// Upper-case digits without separators.
    static func of(_ data: Data) -> String {
        data.map { Decimals.hex($0, width: 2) }.joined()
    }

    private static func incomplete(_ text: String) -> Failure {
        Failure(.usage, "\"\(PrintableText.of(text))\" has half a byte: every byte has two digits")
    }
}
