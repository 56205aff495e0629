import Foundation

/// A string: the names and numbers of the services Generic Access (1800) and Device Information (180A).
struct UTF8Text: StandardValue, Equatable {
    private let string: String

    init?(_ data: Data) {
        // Some devices end the string, as C does.
        guard let string = String(data: data.last == 0 ? data.dropLast() : data, encoding: .utf8) else { return nil }
        self.string = string
    }

    var text: String { "\"\(PrintableText.of(string))\"" }
}
