import Foundation

/// Where a command writes: results to standard output, everything else to standard error.
@MainActor
final class Console {
    /// Whether results are JSON, one object a line.
    let isJSON: Bool
    /// Whether results bear the time.
    let showsTime: Bool
    /// Colours of standard output.
    let palette: Palette
    /// Whether a live table can be drawn.
    let isLive: Bool
    /// Called once when nobody reads standard output any more.
    var onClosedOutput: (() -> Void)?

    private let showsProgress: Bool
    private var hasProgress = false
    private var isOutputClosed = false

    init(
        isJSON: Bool, showsTime: Bool = false, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.isJSON = isJSON
        self.showsTime = showsTime
        let isTerminal = StandardStream.output.isTerminal && environment["TERM"] != "dumb"
        palette = Palette(isTerminal: isTerminal, environment: environment)
        isLive = isTerminal && !isJSON
        showsProgress = StandardStream.error.isTerminal && environment["TERM"] != "dumb" && !isJSON
    }

    /// Writes a line of results.
    func print(_ line: String) { put((showsTime ? TimeText.now + "\t" : "") + line + "\n") }

    /// Writes a record as one line of JSON.
    func print(json record: some Encodable) {
        put((showsTime ? JSONLine.of(TimedRecord(record)) : JSONLine.of(record)) + "\n")
    }

    /// Writes to standard output as it is.
    func put(_ text: String) { put { StandardStream.output.write(text) } }

    /// Writes bytes to standard output as they are.
    func put(_ data: Data) { put { data.withUnsafeBytes { StandardStream.output.write($0) } } }

    private func put(_ write: () -> Int32) {
        clearProgress()
        guard !isOutputClosed else { return }
        let code = write()
        guard code != 0 else { return }
        isOutputClosed = true
        if code != EPIPE { note("cannot write the results: \(String(cString: strerror(code)))") }
        onClosedOutput?()
    }

    /// Writes a remark to standard error.
    func note(_ text: String) {
        clearProgress()
        // Nobody is left to be told where standard error is closed.
        _ = StandardStream.error.write((isJSON ? JSONLine.of(["warning": text]) : text) + "\n")
    }

    /// Writes why the command failed to standard error, one line.
    func error(_ failure: Failure) {
        clearProgress()
        let record = FailureRecord(error: failure.description, code: failure.status.rawValue)
        let line = isJSON ? JSONLine.of(record) : "bluectl: \(failure.description)"
        _ = StandardStream.error.write(line + "\n")
    }

    /// Shows what takes long, on a terminal, until the next line.
    func progress(_ text: String) {
        guard showsProgress else { return }
        let width = StandardStream.error.size?.columns ?? 80
        let cut = PrintableText.columns(text) < width ? text : PrintableText.fitted(text, to: width - 1)
        _ = StandardStream.error.write("\r\u{1B}[K\(cut)")
        hasProgress = true
    }

    /// Takes the progress line away.
    func clearProgress() {
        guard hasProgress else { return }
        hasProgress = false
        _ = StandardStream.error.write("\r\u{1B}[K")
    }
}

/// A failure as JSON.
struct FailureRecord: Encodable {
    let error: String
    let code: Int32
}
