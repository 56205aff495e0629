package import Logging

extension Logger {
    /// Writes one line, whatever its text contains: names, values and errors may come from peers, the bus and files.
    ///
    /// All lines of the library use this function; see ``Swift/String/printable``.
    ///
    /// - Parameter metadata: Additional values of the line, by name.
    package func line(
        _ level: Level, _ text: @autoclosure () -> String, metadata: @autoclosure () -> [String: String] = [:],
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard logLevel <= level else { return }
        let metadata = metadata().mapValues { MetadataValue.string($0.printable) }
        log(
            level: level, "\(text().printable)", metadata: metadata.isEmpty ? nil : metadata, file: file,
            function: function, line: line)
    }
}
