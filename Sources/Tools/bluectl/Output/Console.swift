import BluetoothSupport
import Foundation

/// The output of a command: results to standard output, everything else to standard error.
@MainActor
final class Console {
    /// Whether results are JSON, one object a line.
    let isJSON: Bool
    let showsTime: Bool
    let palette: Palette
    let isLive: Bool
    /// Whether the machine's adapters decide the backend: `--backend auto`.
    let isAutomatic: Bool
    /// The text "emulator" if the results are those of emulated devices; otherwise nil.
    var emulatedBackend: String?
    /// Called once when the reader of standard output has closed it.
    var onClosedOutput: (() -> Void)?

    private let errorPalette: Palette
    private let showsProgress: Bool
    private var hasProgress = false
    private var isOutputClosed = false

    init(isJSON: Bool, showsTime: Bool = false, isAutomatic: Bool = false) {
        let environment = ProcessInfo.processInfo.environment
        self.isJSON = isJSON
        self.isAutomatic = isAutomatic
        self.showsTime = showsTime
        let isTerminal = StandardStream.output.isTerminal && environment["TERM"] != "dumb"
        palette = Palette(isTerminal: isTerminal, environment: environment)
        isLive = isTerminal && !isJSON
        errorPalette = Palette(isTerminal: StandardStream.error.isTerminal, environment: environment)
        showsProgress = StandardStream.error.isTerminal && environment["TERM"] != "dumb" && !isJSON
    }

    /// Writes a line of results.
    func print(_ line: String) { put((showsTime ? TimeText.now + "\t" : "") + line + "\n") }

    /// Writes a result: its fields as one line of JSON, or lines for people.
    func show(_ fields: JSONFields, _ lines: [String]) {
        guard isJSON else {
            for line in lines { print(line) }
            return
        }
        let common: JSONFields = ["time": showsTime ? TimeText.now : nil, "backend": emulatedBackend]
        put(common.merging(fields).line + "\n")
    }

    func put(_ text: String) { put { StandardStream.output.write(text) } }

    func put(_ data: Data) { put { data.withUnsafeBytes { StandardStream.output.write($0) } } }

    private func put(_ write: () -> Int32) {
        clearProgress()
        guard !isOutputClosed else { return }
        let code = write()
        guard code != 0 else { return }
        if code != EPIPE { warn("cannot write the results: \(String(cString: strerror(code)))") }
        outputWasClosed()
    }

    private func outputWasClosed() {
        guard !isOutputClosed else { return }
        isOutputClosed = true
        onClosedOutput?()
    }

    /// Waits until the reader of standard output closes it; a command without results would not notice otherwise.
    func watchOutput() async throws {
        while !StandardStream.output.isClosed { try await Task.sleep(for: .seconds(1)) }
        outputWasClosed()
    }

    /// Warns that the devices or the adapters are emulated.
    func warnEmulated(_ things: String) {
        let reason = isAutomatic ? "; BlueZ has no adapter, and then --backend auto uses the emulator" : ""
        warn("EMULATED: these \(things) are not real\(reason)")
    }

    /// Writes a warning or a remark to standard error.
    func warn(_ text: String) { remark(["warning": text], text) }

    /// Writes a remark to standard error: fields as one line of JSON, or a line for people.
    func remark(_ fields: JSONFields, _ line: String) {
        clearProgress()
        // If standard error is closed, no reader is left.
        _ = StandardStream.error.write((isJSON ? fields.line : colored(PrintableText.of(line))) + "\n")
    }

    /// Returns a line in which the word that the devices are emulated stands out.
    private func colored(_ line: String) -> String {
        let word = "EMULATED"
        return line.hasPrefix(word + ":") ? errorPalette.caution(word) + line.dropFirst(word.count) : line
    }

    /// Writes the reason that the command failed to standard error, in one line.
    func error(_ failure: Failure) {
        remark(
            ["error": failure.description, "code": failure.status.rawValue], "bluectl: \(failure.description)")
    }

    /// Shows a step that takes long, on a terminal, until the next line.
    func progress(_ text: String) {
        guard showsProgress else { return }
        let width = StandardStream.error.size?.columns ?? 80
        let cut = PrintableText.columns(text) < width ? text : PrintableText.fitted(text, to: width - 1)
        _ = StandardStream.error.write("\r\u{1B}[K\(cut)")
        hasProgress = true
    }

    func clearProgress() {
        guard hasProgress else { return }
        hasProgress = false
        _ = StandardStream.error.write("\r\u{1B}[K")
    }
}

/// An open file descriptor to write lines to.
enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Whether the reader of a pipe or a socket has closed it.
    var isClosed: Bool {
        var poll = pollfd(fd: rawValue, events: 0, revents: 0)
        return systemPoll(&poll, 1, 0) == 1 && poll.revents & Int16(POLLERR | POLLHUP) != 0
    }

    /// The terminal's columns and rows; nil if they are unknown.
    var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes all of `text`; waits while the reader is slow.
    ///
    /// - Returns: 0, or the `errno` that ended it; `EPIPE` if the reader has closed it.
    func write(_ text: String) -> Int32 {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = systemWrite(rawValue, base, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            } else if errno == EAGAIN {
                var poll = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                _ = systemPoll(&poll, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

private func systemWrite(_ descriptor: Int32, _ base: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, base, count)
}

private func systemPoll(_ descriptors: UnsafeMutablePointer<pollfd>, _ count: UInt, _ timeout: Int32) -> Int32 {
    poll(descriptors, nfds_t(count), timeout)
}

/// The fields of a JSON object; nil fields are omitted.
struct JSONFields: Encodable, ExpressibleByDictionaryLiteral {
    typealias Value = (any Encodable)?

    private var values: [String: any Encodable]

    init(dictionaryLiteral elements: (String, Value)...) {
        values = Dictionary(elements.compactMap { name, value in value.map { (name, $0) } }) { $1 }
    }

    /// Returns all fields of both; those of `other` replace equal ones.
    func merging(_ other: JSONFields) -> JSONFields {
        var merged = self
        merged.values.merge(other.values) { $1 }
        return merged
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldName.self)
        for (name, value) in values { try container.encode(value, forKey: FieldName(name)) }
    }

    /// The object on one line without its end, keys sorted.
    var line: String {
        do {
            return String(decoding: try jsonLine(), as: UTF8.self)
        } catch {
            // Fields hold text, finite numbers and booleans, which always encode.
            preconditionFailure("\(values) cannot be JSON: \(error)")
        }
    }
}

enum TimeText {
    /// The present time, ISO 8601 in UTC, with milliseconds.
    static var now: String { Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
