import Foundation
import Testing

/// The page "Settings" agrees with the types.
@Suite struct SettingsPageTests {
    /// Compares the page with the types; `REWRITE_DOCUMENTS=1` writes the page instead.
    @Test func thePageIsWhatTheTypesSay() throws {
        let page = Document("Settings")
        if Document.isRewriting { try SettingsPage.text().write(to: page.file, atomically: true, encoding: .utf8) }
        #expect(try page.text() == SettingsPage.text(), "write it again with REWRITE_DOCUMENTS=1")
    }

    @Test func eachSettingHasAUnitAndNothingElseHas() {
        for part in SettingsPage.parts {
            for column in part.columns {
                let names = SettingsPage.fields(of: column.1).map(\.name)
                #expect(Set(names) == Set(part.notes.keys), "\(part.title)")
            }
        }
    }
}
