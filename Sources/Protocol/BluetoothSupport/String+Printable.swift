extension String {
    /// The text as one line that is safe for a terminal: characters that are not printable are escaped as in Swift, for
    /// instance `\u{1B}`.
    ///
    /// Logs and traces use it for all foreign text; see ``Unicode/Scalar/isPrintable``.
    package var printable: String { escaping(with: { $0.escaped(asASCII: true) }) }

    /// The text in quotation marks, as a Swift literal with printable characters only.
    package var quoted: String { debugDescription.printable }

    /// Returns the text with characters that are not printable replaced by `escape`.
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
    /// The same JSON with printable characters only: other ones are escaped, as in `\u001B`.
    ///
    /// Line breaks between values are kept.
    package var printableJSON: Data {
        // An encoder has escaped all control characters of ASCII except the last.
        guard contains(where: { $0 >= 0x7F }) else { return self }
        return Data(String(decoding: self, as: UTF8.self).escaping(with: { $0 == "\n" ? "\n" : $0.jsonEscape }).utf8)
    }
}

extension Unicode.Scalar {
    /// The character's escape in JSON: `\u001B`, in two parts beyond the Basic Multilingual Plane.
    package var jsonEscape: String {
        UTF16.encode(self).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }
}
