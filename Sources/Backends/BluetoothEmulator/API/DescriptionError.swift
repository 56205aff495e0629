import BluetoothSupport

/// An error in a description: the field, and the rule that it breaks.
public struct DescriptionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A line and a column in a text, both from 1.
    public struct Place: Hashable, Sendable {
        /// The line.
        public var line: Int
        /// The column, in characters.
        public var column: Int

        /// Creates a place.
        public init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }

        /// Computes the place of the byte at `offset`.
        init(of offset: Int, in bytes: [UInt8]) {
            let before = bytes.prefix(offset)
            let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            line = before.count { $0 == UInt8(ascii: "\n") } + 1
            column = String(decoding: before[start...], as: UTF8.self).count + 1
        }
    }

    /// The file that the description came from; nil if it came from no file.
    public var file: String?
    /// The place of the field in the JSON, or of the nearest enclosing field; nil without JSON.
    public var place: Place?
    /// The field, as a path: `devices[1].services[0].uuid`.
    public var path: String
    /// The rule.
    public var rule: String

    /// Creates an error from a field's path and a rule.
    public init(_ path: String, _ rule: String) {
        self.path = path
        self.rule = rule
    }

    func inFile(_ file: String) -> DescriptionError {
        var named = self
        named.file = file
        return named
    }

    func at(_ offset: Int?, in bytes: [UInt8]) -> DescriptionError {
        var placed = self
        placed.place = offset.map { Place(of: $0, in: bytes) }
        return placed
    }

    /// The file and the place, as far as they are known.
    private var origin: String? {
        guard let place else { return file }
        return file.map { "\($0):\(place.line):\(place.column)" }
            ?? (path.isEmpty ? "line \(place.line), column \(place.column)" : nil)
    }

    /// The text `file:line:column: path: rule`, as far as its parts are known, on one line.
    ///
    /// Control and formatting characters, which names in a file may contain, are escaped as in source code: `\u{1B}`.
    public var description: String {
        let text = [origin, path, rule].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
        return text.printable
    }
}

/// Throws a ``DescriptionError`` if the rule is broken.
func require(
    _ isKept: Bool, _ path: @autoclosure () -> String, _ rule: @autoclosure () -> String
) throws(DescriptionError) {
    guard isKept else { throw DescriptionError(path(), rule()) }
}

/// Checks that no two elements of a list have the same value in a field.
func requireUnique<Element, Key: Hashable>(
    _ elements: [Element], _ path: String, _ field: String, _ rule: (Key) -> String, _ key: (Element) -> Key
) throws(DescriptionError) {
    var known: Set<Key> = []
    for (path, element) in elements.located(at: path) {
        let value = key(element)
        try require(known.insert(value).inserted, "\(path).\(field)", rule(value))
    }
}

extension Array {
    /// The elements of a list, each with its path.
    func located(at path: String) -> some Sequence<(path: String, element: Element)> {
        enumerated().lazy.map { ("\(path)[\($0.offset)]", $0.element) }
    }
}
