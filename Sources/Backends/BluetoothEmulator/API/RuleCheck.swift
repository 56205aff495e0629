/// The check of one rule of a description.
struct RuleCheck {
    /// The path of the field that the rule concerns.
    let path: String
    let run: () throws(DescriptionError) -> Void

    init(_ path: String, _ run: @escaping () throws(DescriptionError) -> Void) {
        self.path = path
        self.run = run
    }

    /// Creates the check of a rule of one field.
    init(_ path: String, _ rule: String, _ isKept: Bool) {
        self.init(path) { () throws(DescriptionError) in try require(isKept, path, rule) }
    }
}

extension [RuleCheck] {
    /// - Throws: ``DescriptionError`` for the first broken rule.
    func run() throws(DescriptionError) {
        for check in self { try check.run() }
    }
}
