import Foundation

/// Foundation's error as Apple's prints: with its text, where Foundation on Linux prints "(null)".
///
/// An error that has no text of its own prints what its code means.
// Invariant: as `NSError`, never changed after `init`.
final class PrintableError: NSError, @unchecked Sendable {
    private let meaning: String

    init(domain: String, code: Int, userInfo: [String: Any], meaning: String) {
        self.meaning = meaning
        super.init(domain: domain, code: code, userInfo: userInfo)
    }

    required init?(coder: NSCoder) {
        meaning = "(null)"
        super.init(coder: coder)
    }

    override var description: String {
        let text = userInfo[NSLocalizedDescriptionKey] as? String ?? meaning
        let entries = userInfo.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ", ")
        return "Error Domain=\(domain) Code=\(code) \"\(text)\"" + (entries.isEmpty ? "" : " UserInfo={\(entries)}")
    }
}
