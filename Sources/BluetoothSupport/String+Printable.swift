extension String {
    /// The text as one line that is safe for a terminal: an escape of Swift's source code, as in `\u{1B}`, stands for each
    /// character that is not printable.
    ///
    /// The one rule for text of strangers in logs and traces; see ``Unicode/Scalar/isPrintable``.
    package var printable: String { escaping(with: { $0.escaped(asASCII: true) }) }

    /// The text in quotation marks, as a literal of Swift whose characters are all printable.
    package var quoted: String { debugDescription.printable }

    /// The text with `escape` of each character that is not printable.
    package func escaping(with escape: (Unicode.Scalar) -> String) -> String {
        guard !unicodeScalars.allSatisfy(\.isPrintable) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.isPrintable { result.unicodeScalars.append(scalar) } else { result += escape(scalar) }
        }
        return result
    }
}

extension Data {
    /// JSON with the same content, in whose texts all characters are printable: an escape, as in `\u001B`, stands for each
    /// other one.
    ///
    /// Line breaks between values stay.
    package var printableJSON: Data {
        // An encoder has escaped the control characters of ASCII, all but the last one.
        guard contains(where: { $0 >= 0x7F }) else { return self }
        return Data(String(decoding: self, as: UTF8.self).escaping(with: { $0 == "\n" ? "\n" : $0.jsonEscape }).utf8)
    }
}

extension Unicode.Scalar {
    /// The character as JSON may write it: `\u001B`, in two parts beyond the Basic Multilingual Plane.
    package var jsonEscape: String {
        UTF16.encode(self).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }
}
