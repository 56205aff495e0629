import Foundation

/// Lines of standard input.
@MainActor
final class LineInput {
    /// A line is no longer than this; what comes beyond it is the next one.
    private static let maximumLength = 65_536

    private let input: StandardInput
    private var isCancelled = false

    init(_ input: StandardInput = .shared) { self.input = input }

    /// The next line without its end; nil at the end of the input, or where `cancel()` comes first.
    ///
    /// One caller at a time.
    func next() async -> String? {
        isCancelled = false
        var line = Data()
        while let data = await input.next() {
            if let end = data.firstIndex(of: UInt8(ascii: "\n")) {
                input.putBack(Data(data[data.index(after: end)...]))
                return String(decoding: line + data[..<end], as: UTF8.self)
            }
            line += data
            if line.count >= Self.maximumLength { break }
        }
        if isCancelled {
            input.putBack(line)
            return nil
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Nobody wants the line any more; what was typed of it is for the next caller.
    func cancel() {
        isCancelled = true
        input.cancel()
    }
}
