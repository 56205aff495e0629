import BluetoothSupport
import Logging

/// A file of trace lines, or standard error.
///
/// Callable from any thread. Each line is written immediately, so that a crash loses none. A write error ends the file
/// and not the program: one line of the log gives the reason.
public final class TraceFile: Sendable {
    private struct State: Sendable {
        /// The output; nil after a line could not be written.
        var output: OutputFile?
    }

    /// The size limit of a trace that is read.
    private static let maximumBytes = 1_073_741_824

    private let writesJSON: Bool
    private let state: Lock<State>

    /// Creates a file, which replaces an existing one, or opens a pipe that a program reads; `-` is standard error.
    ///
    /// A file whose name ends with `.jsonl` or `.json` gets one JSON object per line, as ``TraceEntry`` encodes it,
    /// every other file text. Only the user may read a new file, because values of characteristics may be private.
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

    /// Reads the JSON lines of a trace, from a file or a pipe.
    ///
    /// A truncated last line, of a program that was ended while it wrote, is skipped, with a warning in the log.
    ///
    /// - Throws: ``TraceFileError`` for a file that cannot be read, and for a malformed line, with its number and the rule.
    public static func entries(of name: String) throws(TraceFileError) -> [TraceEntry] {
        let data: Data
        do throws(InputFileError) {
            data = Data(try InputFile.contents(of: name, atMost: maximumBytes))
        } catch {
            throw TraceFileError(file: name, reason: "the file cannot be read: \(error.reason)")
        }
        let decoder = JSONDecoder()
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var entries: [TraceEntry] = []
        for (index, line) in lines.enumerated() where !line.isEmpty {
            do {
                entries.append(try decoder.decode(TraceEntry.self, from: Data(line)))
            } catch  where index == lines.count - 1 {
                Logger(label: "CoreBluetooth").line(.warning, "\(name): line \(index + 1) is cut off, and left out")
            } catch {
                let rule = (error as? DecodingError)?.reason ?? "\(error)"
                throw TraceFileError(file: name, reason: "line \(index + 1): \(rule)")
            }
        }
        return entries
    }

    func write(_ entries: [TraceEntry]) {
        guard !entries.isEmpty else { return }
        state.withLock { state in
            guard let output = state.output else { return }
            do {
                try output.write(entries.flatMap { Array(try line($0).utf8) + [UInt8(ascii: "\n")] })
            } catch {
                state.output = nil
                Logger(label: "CoreBluetooth").line(.error, "the trace has ended: \(error)")
            }
        }
    }

    private func line(_ entry: TraceEntry) throws -> String {
        guard writesJSON else { return entry.description }
        return String(decoding: try entry.jsonLine(), as: UTF8.self)
    }
}

/// A trace file that cannot be read or written.
public struct TraceFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the file.
    public let file: String
    /// The reason.
    public let reason: String

    /// The file and the reason.
    public var description: String { "\(file): \(reason)" }
}
