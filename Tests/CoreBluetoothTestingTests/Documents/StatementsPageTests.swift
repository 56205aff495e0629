import Foundation
import Testing

/// Checks that the page "Statements and their tests" is up to date.
@Suite struct StatementsPageTests {
    /// `REWRITE_DOCUMENTS=1` writes the page instead.
    @Test func thePageIsGeneratedFromTheTests() throws {
        let page = try Repository.page("Statements")
        let text = try StatementIndex().page
        if Repository.isRewriting { try text.write(to: page, atomically: true, encoding: .utf8) }
        let isUpToDate = try String(contentsOf: page, encoding: .utf8) == text
        #expect(isUpToDate, "write it again with REWRITE_DOCUMENTS=1")
    }

    @Test func eachStatementHasATitleAndATest() throws {
        let suites = try StatementIndex().suites
        let ids = Statements.sections.flatMap { section in section.numbers.map { "\(section.prefix)\($0)" } }
        #expect(ids.count == 171)
        for id in ids {
            #expect(Statements.titles[id] != nil, "\(id)")
            #expect(suites[id]?.isEmpty == false, "\(id) has no test")
        }
        #expect(Set(suites.keys) == Set(ids))
        #expect(Statements.titles.count == 171)
    }
}
