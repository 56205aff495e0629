import BluetoothSupport

/// The recordings that devices of a world file play: files in its folder or below.
final class RecordingFiles: Sendable {
    /// More recordings than any world has.
    static let maximumFiles = 64
    /// More bytes than the recordings of any world have together: 128 MiB.
    static let maximumBytes = 134_217_728
    private static let key = CodingUserInfoKey(rawValue: "recordings")

    private struct State: Sendable {
        var recordings: [String: DeviceRecording] = [:]
        var bytes = 0
    }

    private let folder: WorldFolder
    /// The folder as the name of the world file has it.
    private let prefix: String
    private let state = Lock(State())

    /// - Parameter worldFile: The path of the world file.
    init(beside worldFile: String) {
        folder = WorldFolder(ofFile: worldFile)
        prefix = WorldFolder.name(of: worldFile)
    }

    /// The recording in a file, which is read once.
    ///
    /// - Parameter name: Relative to the folder of the world file.
    /// - Throws: ``DescriptionError`` without a file for a name that cannot be used, with it for a mistake in the file.
    func recording(_ name: String) throws(DescriptionError) -> DeviceRecording {
        if let known = state.withLock({ $0.recordings[name] }) { return known }
        guard !name.isEmpty, !name.hasPrefix("/") else {
            throw DescriptionError("", "the path of a recording is relative to the world file")
        }
        let file = prefix + name
        guard folder.contains(file) else {
            throw DescriptionError("", "a recording is in the folder of the world file or below")
        }
        let text: Data
        do throws(DescriptionError) {
            text = try DeviceRecording.text(ofFile: file)
        } catch {
            throw DescriptionError("", error.rule)
        }
        let hasRoom = state.withLock { state in
            state.bytes += text.count
            return state.recordings.count < Self.maximumFiles && state.bytes <= Self.maximumBytes
        }
        guard hasRoom else {
            throw DescriptionError(
                "", "a world has \(Self.maximumFiles) recordings and \(Self.maximumBytes) bytes of them or fewer")
        }
        let recording: DeviceRecording
        do throws(DescriptionError) {
            recording = try DeviceRecording(jsonLines: text, name: file)
        } catch {
            throw error.inFile(file)
        }
        state.withLock { $0.recordings[name] = recording }
        return recording
    }

    /// Lets a decoder read recordings.
    func serve(_ decoder: JSONDecoder) {
        if let key = Self.key { decoder.userInfo[key] = self }
    }

    /// Those of a decoder; nil for a text that is no file.
    static func of(_ decoder: any Decoder) -> RecordingFiles? {
        key.flatMap { decoder.userInfo[$0] } as? RecordingFiles
    }
}

extension FieldReader {
    /// The device of the recording that the field names.
    ///
    /// - Parameter name: The name of the device; empty for that of the recording.
    func recordedDevice(_ file: String, name: String) throws -> PeripheralDescription {
        guard let recordings else {
            throw error("only a file can name a recording: a text has no folder in which it is")
        }
        let recording: DeviceRecording
        do throws(DescriptionError) {
            recording = try recordings.recording(file)
        } catch {
            if error.file != nil { throw error }
            throw self.error(error.rule)
        }
        var replay = RecordingReplay(recording)
        replay.file = file
        var device = replay.device(named: name)
        device.replay = replay
        return device
    }
}
