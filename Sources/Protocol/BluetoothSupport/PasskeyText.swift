/// A passkey in its usual notation: six digits, with leading zeros.
package enum PasskeyText {
    /// Returns the passkey, 0...999999; nil if the text is not six digits.
    package static func passkey(_ text: String) -> Int? {
        let isDigits =
            text.utf8.count == 6 && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isDigits ? Int(text) : nil
    }

    /// Returns the six digits of a passkey.
    package static func digits(_ passkey: Int) -> String {
        let text = String(passkey)
        return String(repeating: "0", count: max(0, 6 - text.count)) + text
    }
}
