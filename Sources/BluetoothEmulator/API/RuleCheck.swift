/// The check of one rule of a description.
struct RuleCheck {
    /// The path of what the rule is about.
    let path: String
    let run: () throws(DescriptionError) -> Void

    init(_ path: String, _ run: @escaping () throws(DescriptionError) -> Void) {
        self.path = path
        self.run = run
    }

    /// A rule of one field.
    init(_ path: String, _ rule: String, _ isKept: Bool) {
        self.init(path) { () throws(DescriptionError) in try require(isKept, path, rule) }
    }
}

extension [RuleCheck] {
    /// - Throws: ``DescriptionError`` of the first rule that is broken.
    func run() throws(DescriptionError) {
        for check in self { try check.run() }
    }
}
