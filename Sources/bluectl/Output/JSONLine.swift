import Foundation

/// Records as JSON, one object a line, keys sorted.
enum JSONLine {
    /// The line without its end.
    ///
    /// Fields that are nil are left out.
    static func of(_ record: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(record), as: UTF8.self)
        } catch {
            // The records hold strings, integers and booleans, which always encode.
            preconditionFailure("\(type(of: record)) cannot be JSON: \(error)")
        }
    }
}
