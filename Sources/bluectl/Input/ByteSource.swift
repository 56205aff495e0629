import Foundation

/// The bytes of a file, or of standard input.
@MainActor
final class ByteSource {
    /// The rest of a file; nil for standard input.
    private var rest: Data?

    /// Opens a file; `-` is standard input.
    ///
    /// - Throws: A usage failure where the file cannot be read.
    init(_ path: String) throws(Failure) {
        guard path != "-" else { return }
        do {
            rest = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        } catch {
            throw Failure(.usage, "\(path): the file cannot be read: \((error as NSError).localizedDescription)")
        }
    }

    /// The next bytes, as many as are wanted or as there are; nil at the end.
    ///
    /// - Throws: `CancellationError`.
    func next(_ count: Int) async throws -> Data? {
        if let rest {
            guard !rest.isEmpty else { return nil }
            self.rest = rest.dropFirst(count)
            return Data(rest.prefix(count))
        }
        let input = StandardInput.shared
        var data = Data()
        while data.count < count, let piece = await input.next() { data += piece }
        input.putBack(Data(data.dropFirst(count)))
        try Task.checkCancellation()
        return data.isEmpty ? nil : Data(data.prefix(count))
    }
}
