import BluetoothSupport
import Dispatch
import Logging

/// A capture file that is being written.
///
/// Callable from any thread. A write error ends the capture, not the program: one line of the log gives the reason, and
/// the file is truncated after the last complete record.
package final class CaptureFile: Sendable {
    private struct State: Sendable {
        var encoder: any CaptureEncoder
        /// nil once the capture has ended.
        var output: OutputFile?
        var pending: [UInt8] = []
        var isFlushScheduled = false
        var packetCount = 0
        var lastTime: CaptureTime = 0
    }

    /// The number of pending bytes that causes a write.
    private static let bufferSize = 65_536
    /// The longest time that pending bytes wait.
    private static let flushInterval = DispatchTimeInterval.milliseconds(100)

    /// The file's name, as given.
    package let name: String
    private let queue = DispatchQueue(label: "CoreBluetooth capture")
    private let state: Lock<State>

    /// Creates a file, which replaces an existing one, or opens a pipe that a program reads.
    ///
    /// Only the user may read a new file: values of characteristics may be private.
    ///
    /// - Throws: ``CaptureError`` if it cannot be written.
    package init(_ name: String, comment: String) throws(CaptureError) {
        self.name = name
        let encoder = CaptureFormat(fileName: name).makeEncoder(comment: comment)
        let output: OutputFile
        do throws(OutputFileError) {
            output = try OutputFile(name)
        } catch {
            throw CaptureError(file: name, reason: error.reason)
        }
        state = Lock(State(encoder: encoder, output: output, pending: encoder.header))
        flush()
        OpenCaptures.add(self)
    }

    deinit { close() }

    /// The number of packets written so far.
    package var packetCount: Int { state.withLock { $0.packetCount } }

    package func write(_ records: [CaptureRecord]) {
        let mustSchedule = state.withLock { state -> Bool in
            guard state.output != nil else { return false }
            for record in records { Self.encode(record, &state) }
            if state.pending.count >= Self.bufferSize { flush(&state) }
            guard !state.pending.isEmpty, !state.isFlushScheduled else { return false }
            state.isFlushScheduled = true
            return true
        }
        if mustSchedule {
            queue.asyncAfter(machineDeadline: .now() + Self.flushInterval) { [weak self] in self?.flush() }
        }
    }

    private static func encode(_ record: CaptureRecord, _ state: inout State) {
        switch record {
        case .packet(let packet):
            state.packetCount += 1
            state.lastTime = packet.time
        case .note(_, let time): state.lastTime = time
        case .host: break
        }
        state.pending += state.encoder.encode(record)
    }

    /// Writes the pending bytes.
    package func flush() {
        state.withLock { state in
            state.isFlushScheduled = false
            flush(&state)
        }
    }

    /// Writes the pending bytes and ends the capture.
    package func close() {
        state.withLock { state in
            guard state.output != nil else { return }
            state.pending += state.encoder.end(at: state.lastTime)
            flush(&state)
            state.output = nil
        }
    }

    private func flush(_ state: inout State) {
        guard let output = state.output, !state.pending.isEmpty else { return }
        defer { state.pending.removeAll(keepingCapacity: true) }
        do throws(OutputFileError) {
            try output.write(state.pending)
        } catch {
            state.output = nil
            Logger(label: "CoreBluetooth").line(.error, "the capture has ended: \(error)")
        }
    }
}

/// The captures of this process, which are completed when it exits.
private enum OpenCaptures {
    private struct Entry: Sendable { weak var file: CaptureFile? }

    private static let entries = Lock<[Entry]>([])
    private static let registration: CInt = atexit { OpenCaptures.close() }

    static func add(_ file: CaptureFile) {
        _ = registration
        entries.withLock { entries in
            entries.removeAll { $0.file == nil }
            entries.append(Entry(file: file))
        }
    }

    private static func close() {
        let files = entries.withLock { $0.compactMap(\.file) }
        for file in files { file.close() }
    }
}

/// A capture that cannot be written.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the file.
    public let file: String
    /// The reason.
    public let reason: String

    /// The file and the reason.
    public var description: String { "\(file): \(reason)" }
}
