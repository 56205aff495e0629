import BluetoothSupport

/// The recordings that devices of a world file replay: files in its folder or below.
final class RecordingFiles: Sendable {
    /// The maximum number of recordings of a world.
    static let maximumFiles = 64
    /// The maximum total size of the recordings of a world: 128 MiB.
    static let maximumBytes = 134_217_728
    private static let key = CodingUserInfoKey(rawValue: "recordings")

    private struct State: Sendable {
        var recordings: [String: DeviceRecording] = [:]
        var bytes = 0
    }

    private let folder: WorldFolder
    /// The folder as it is written in the name of the world file.
    private let prefix: String
    private let state = Lock(State())

    /// - Parameter worldFile: The path of the world file.
    init(beside worldFile: String) {
        folder = WorldFolder(ofFile: worldFile)
        prefix = WorldFolder.name(of: worldFile)
    }

    /// Returns the recording in a file, which is read only once.
    ///
    /// - Parameter name: The file's name, relative to the folder of the world file.
    /// - Throws: ``DescriptionError`` without a file if the name cannot be used, with it for a mistake in the file.
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

    /// Makes the recordings available to a decoder.
    func serve(_ decoder: JSONDecoder) {
        if let key = Self.key { decoder.userInfo[key] = self }
    }

    /// Returns the recordings of a decoder; nil for a text that is not a file.
    static func of(_ decoder: any Decoder) -> RecordingFiles? {
        key.flatMap { decoder.userInfo[$0] } as? RecordingFiles
    }
}

extension FieldReader {
    /// Returns the device of the recording that the field names.
    ///
    /// - Parameter name: The name of the device; if empty, the recording's name is used.
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
