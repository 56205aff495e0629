import BluetoothSupport

/// A scanner that finds the first syntax error in JSON, or the places of fields, which Foundation's decoder does not
/// report.
///
/// Source: RFC 8259.
struct JSONScanner {
    /// A syntax error with its offset.
    struct Mistake: Error {
        var offset: Int
        var rule: String
    }

    /// The limit on nested levels; descriptions have fewer.
    private static let maximumDepth = 256

    private let bytes: [UInt8]
    /// The paths of the wanted fields and of all fields that enclose them, as in ``DescriptionError/path``.
    private let wanted: Set<String>
    private var index = 0
    private var depth = 0
    /// The offsets of the wanted fields found so far.
    private var found: [String: Int] = [:]

    /// Returns the first syntax error in a text; nil if the text is JSON.
    static func mistake(in bytes: [UInt8]) -> Mistake? {
        var scanner = JSONScanner(bytes: bytes, wanted: [])
        do throws(Mistake) {
            try scanner.document()
            return nil
        } catch {
            return error
        }
    }

    /// Returns the offset of each field, or of the nearest enclosing field; nil if neither was found.
    ///
    /// A single scan finds all offsets.
    static func offsets(of fields: [String], in bytes: [UInt8]) -> [Int?] {
        let paths = fields.map(prefixes)
        var scanner = JSONScanner(bytes: bytes, wanted: Set(paths.joined()))
        do throws(Mistake) {
            try scanner.document()
        } catch {
            // Fields before the mistake have their offsets.
        }
        return paths.map { $0.lazy.compactMap { scanner.found[$0] }.first }
    }

    /// Returns the path of a field, then those of its enclosing fields, from the inside out.
    private static func prefixes(_ path: String) -> [String] {
        var paths = path.isEmpty ? [] : [path]
        for index in path.indices.reversed() where path[index] == "." || path[index] == "[" {
            paths.append(String(path[..<index]))
        }
        return paths
    }

    // MARK: Values

    private mutating func document() throws(Mistake) {
        // A byte order mark is not part of the text.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        try value(path: wanted.isEmpty ? nil : "")
        skipSpace()
        if index < bytes.count { throw mistake("nothing is wanted after the end of the value") }
    }

    /// - Parameter path: The value's path; nil if it contains no wanted field.
    private mutating func value(path: String?) throws(Mistake) {
        skipSpace()
        guard let current else { throw mistake("a value is wanted") }
        switch current {
        case UInt8(ascii: "{"): try list(closedBy: "}") { (scanner, _) throws(Mistake) in try scanner.member(of: path) }
        case UInt8(ascii: "["):
            try list(closedBy: "]") { (scanner, number) throws(Mistake) in
                try scanner.element(number, of: path)
            }
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        default: throw mistake("a value is wanted")
        }
    }

    /// Scans the members of an object, or the elements of an array.
    private mutating func list(
        closedBy end: Unicode.Scalar, item: (inout JSONScanner, Int) throws(Mistake) -> Void
    ) throws(Mistake) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw mistake("more than \(Self.maximumDepth) levels") }
        index += 1
        skipSpace()
        if consume(end) { return }
        var count = 0
        repeat {
            try item(&self, count)
            count += 1
            skipSpace()
        } while consume(",")
        guard consume(end) else { throw mistake("\",\" or \"\(end)\" is wanted") }
    }

    private mutating func member(of path: String?) throws(Mistake) {
        skipSpace()
        let start = index
        guard current == UInt8(ascii: "\"") else { throw mistake("a field's name in quotation marks is wanted") }
        let name = try string()
        let inner = pass(path.map { $0.isEmpty ? name : "\($0).\(name)" }, at: start)
        skipSpace()
        guard consume(":") else { throw mistake("\":\" is wanted after a field's name") }
        try value(path: inner)
    }

    private mutating func element(_ number: Int, of path: String?) throws(Mistake) {
        skipSpace()
        try value(path: pass(path.map { "\($0)[\(number)]" }, at: index))
    }

    /// - Returns: The path; nil if it contains no wanted field.
    private mutating func pass(_ path: String?, at offset: Int) -> String? {
        guard let path, wanted.contains(path) else { return nil }
        found[path] = offset
        return path
    }

    // MARK: Scalars

    private mutating func word(_ word: String) throws(Mistake) {
        guard bytes[index...].starts(with: word.utf8) else { throw mistake("a value is wanted") }
        index += word.utf8.count
    }

    private mutating func number() throws(Mistake) {
        _ = consume("-")
        if !consume("0") { try digits() }
        if consume(".") { try digits() }
        if consume("e") || consume("E") {
            if !consume("+") { _ = consume("-") }
            try digits()
        }
    }

    private mutating func digits() throws(Mistake) {
        let start = index
        while let current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(current) { index += 1 }
        if index == start { throw mistake("a digit is wanted") }
    }

    /// - Returns: The text between the quotation marks, with its escapes.
    private mutating func string() throws(Mistake) -> String {
        index += 1
        let start = index
        while let current, current != UInt8(ascii: "\"") {
            guard current >= 0x20 else { throw mistake("a text ends in its line") }
            index += 1
            if current == UInt8(ascii: "\\") { try escape() }
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard consume("\"") else { throw mistake("a quotation mark is wanted at the end of a text") }
        return text
    }

    private mutating func escape() throws(Mistake) {
        if consume("u") {
            for _ in 0..<4 {
                guard let current, Character(Unicode.Scalar(current)).isHexDigit else {
                    throw mistake("four hexadecimal digits are wanted after \\u")
                }
                index += 1
            }
        } else {
            guard let current, "\"\\/bfnrt".utf8.contains(current) else { throw mistake("there is no such escape") }
            index += 1
        }
    }

    // MARK: Bytes

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let current, [0x20, 0x09, 0x0A, 0x0D].contains(current) { index += 1 }
    }

    private func mistake(_ rule: String) -> Mistake {
        let rest = String(decoding: bytes[index...].prefix(4), as: UTF8.self).first
        let met = rest.map { $0.isNewline ? "the end of the line" : "\"\($0)\"" } ?? "the end of the file"
        return Mistake(offset: index, rule: "\(rule), not \(met)")
    }
}

extension DescriptionError {
    /// Creates the error from a decoder's error, with the path in the usual notation.
    init(_ error: DecodingError) {
        let (context, rule): (DecodingError.Context, String) =
            switch error {
            case .keyNotFound(let key, let context): (context, "the field \"\(key.stringValue)\" is missing")
            case .typeMismatch(let type, let context): (context, "\(Self.name(of: type)) is wanted here")
            case .valueNotFound(let type, let context): (context, "\(Self.name(of: type)) is wanted here, not null")
            case .dataCorrupted(let context): (context, context.debugDescription)
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "\(error)")
            }
        self.init(DecodingError.path(context.codingPath), rule)
        if context.codingPath.isEmpty, case .dataCorrupted = error {
            self.rule = "not JSON: " + (context.underlyingError.map { "\($0)" } ?? context.debugDescription)
        }
    }

    /// Creates the error from what a decoder throws: its own error, or that of a rule.
    init(reading error: any Error) {
        self =
            error as? DescriptionError ?? (error as? DecodingError).map { DescriptionError($0) }
            ?? DescriptionError("", "\(error)")
    }

    /// Returns the first syntax error in a text, with its line and column; nil if the text is JSON.
    ///
    /// The decoder reports no place, and accepts some malformed JSON, such as a comma after the last member of an object.
    static func syntaxError(of bytes: [UInt8]) -> DescriptionError? {
        JSONScanner.mistake(in: bytes).map { DescriptionError("", "not JSON: \($0.rule)").at($0.offset, in: bytes) }
    }

    /// Returns the error with its line and column.
    func located(in bytes: [UInt8]) -> DescriptionError {
        Self.syntaxError(of: bytes) ?? at(JSONScanner.offsets(of: [path], in: bytes)[0], in: bytes)
    }

    private static func name(of type: Any.Type) -> String {
        switch "\(type)" {
        case "String": "text"
        case "Bool": "true or false"
        case "Int", "Int8", "Double": "a number"
        case "UInt64": "a whole number from 0 on"
        case let name where name.hasPrefix("Array"): "a list"
        case let name where name.hasPrefix("Dictionary"): "an object"
        case let name: name
        }
    }
}
