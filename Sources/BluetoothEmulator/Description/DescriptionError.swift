/// Why a description cannot be: which field, and the rule that it breaks.
public struct DescriptionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, if it came from one.
    public var file: String?
    /// The field, as a path: `devices[1].services[0].uuid`.
    public var path: String
    /// The rule.
    public var rule: String

    /// Names the field and the rule.
    public init(_ path: String, _ rule: String) {
        self.path = path
        self.rule = rule
    }

    func inFile(_ file: String) -> DescriptionError {
        var named = self
        named.file = file
        return named
    }

    /// `file: path: rule`.
    public var description: String {
        [file, path, rule].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
