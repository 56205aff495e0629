import BluetoothSupport
import Logging

/// A file of trace lines, or standard error.
///
/// Callable from any thread. Each line is written at once, so that a crash loses none. What cannot be written ends the file and
/// not the program: the log gets one line with the reason.
public final class TraceFile: Sendable {
    private struct State: Sendable {
        /// nil once a line could not be written.
        var output: OutputFile?
    }

    private let writesJSON: Bool
    private let state: Lock<State>

    /// Creates a file, which replaces one of that name, or opens a pipe that a program reads; `-` is standard error.
    ///
    /// A name that ends with `.jsonl` or `.json` gets one JSON object a line, as ``TraceEntry`` encodes it, every other name
    /// text. Only the user may read a new file: values of characteristics may be private.
    ///
    /// - Throws: ``TraceFileError`` if the file cannot be written.
    public init(_ name: String) throws(TraceFileError) {
        writesJSON = [".jsonl", ".json"].contains { name.lowercased().hasSuffix($0) }
        do throws(OutputFileError) {
            let output = name == "-" ? try OutputFile(standardErrorNamed: "standard error") : try OutputFile(name)
            state = Lock(State(output: output))
        } catch {
            throw TraceFileError(file: error.file, reason: error.reason)
        }
    }

    func write(_ entries: [TraceEntry]) {
        guard !entries.isEmpty else { return }
        state.withLock { state in
            guard let output = state.output else { return }
            do {
                try output.write(entries.flatMap { Array(try line($0).utf8) + [UInt8(ascii: "\n")] })
            } catch {
                state.output = nil
                Logger(label: "CoreBluetooth").error("the trace has ended: \(error)")
            }
        }
    }

    private func line(_ entry: TraceEntry) throws -> String {
        guard writesJSON else { return entry.description }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(entry), as: UTF8.self)
    }
}

/// A trace file that cannot be written.
public struct TraceFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the file.
    public let file: String
    /// The reason.
    public let reason: String

    /// The file and the reason.
    public var description: String { "\(file): \(reason)" }
}
