package import BluetoothBackend
package import BluetoothEmulator
package import BluetoothSupport
import BluetoothTracing
import Logging

/// The recordings that `COREBLUETOOTH_RECORD` requests: one for each device to which a central manager connects.
package enum EnvironmentRecordings {
    /// The observer; nil if the environment requests no recording, or an invalid one.
    package static let shared: RecordingObserver? = {
        do {
            return try make(ProcessInfo.processInfo.environment)
        } catch {
            Logger(label: "CoreBluetooth").line(.error, "no recording: \(error)")
            return nil
        }
    }()

    /// Returns the observer that an environment requests.
    ///
    /// - Throws: ``SettingsError`` if the name does not end with `.jsonl`, or a setting is unknown.
    package static func make(_ environment: [String: String]) throws(SettingsError) -> RecordingObserver? {
        guard let file = environment["COREBLUETOOTH_RECORD"], !file.isEmpty else { return nil }
        guard file.hasSuffix(".jsonl") else {
            throw SettingsError("COREBLUETOOTH_RECORD: the name of a recording ends with .jsonl: \"\(file)\"")
        }
        let keepsIdentity: Bool
        switch environment["COREBLUETOOTH_RECORD_IDENTITY"] ?? "" {
        case "", "redacted": keepsIdentity = false
        case "kept": keepsIdentity = true
        case let other:
            throw SettingsError("COREBLUETOOTH_RECORD_IDENTITY: \"\(other)\" is neither redacted nor kept")
        }
        let files = SessionFiles(file, isRedacted: !keepsIdentity)
        return RecordingObserver(keepsIdentity: keepsIdentity) { files.write($0) }
    }

    /// Returns a backend whose devices are recorded; the same backend if nothing is recorded.
    package static func recorded(_ backend: any BluetoothBackend) -> any BluetoothBackend {
        guard let shared else { return backend }
        return ObservingBackend(around: backend, shared.observe)
    }
}

/// The files of the devices that a process connects to: `strap.jsonl`, `strap-2.jsonl` and so on.
final class SessionFiles: Sendable {
    // Invariant: the files are used only under the lock.
    private struct State: @unchecked Sendable {
        var files: [PeerID: RecordingFile] = [:]
        /// The devices so far, including those whose file could not be created.
        var knownPeers: Set<PeerID> = []
    }

    private let file: String
    private let isRedacted: Bool
    private let state = Lock(State())

    init(_ file: String, isRedacted: Bool) { (self.file, self.isRedacted) = (file, isRedacted) }

    func write(_ part: RecordingObserver.Part) {
        state.withLock { state in
            if state.knownPeers.insert(part.peer).inserted {
                state.files[part.peer] = newFile(state.knownPeers.count, backend: part.backend)
            }
            state.files[part.peer]?.write(part.lines)
        }
    }

    /// Returns the file for a further device; nil if it cannot be created.
    private func newFile(_ number: Int, backend: String) -> RecordingFile? {
        do throws(OutputFileError) {
            return try RecordingFile(
                OutputFile.name(file, number: number), .today(backend: backend, isRedacted: isRedacted))
        } catch {
            Logger(label: "CoreBluetooth").line(.error, "no recording: COREBLUETOOTH_RECORD: \(error)")
            return nil
        }
    }
}

extension DeviceRecording.Source {
    /// Returns a source with today's date.
    package static func today(backend: String, isRedacted: Bool) -> Self {
        Self(backend: backend, date: String(Date().ISO8601Format().prefix(10)), isRedacted: isRedacted)
    }
}
