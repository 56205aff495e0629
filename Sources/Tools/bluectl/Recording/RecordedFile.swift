#if Emulator
import BluetoothCapture
import BluetoothEmulator
import BluetoothRecording
import BluetoothSupport
import Foundation

/// A file with recorded devices: a recording, or a capture.
@MainActor
struct RecordedFile {
    /// The size of the largest capture that is read.
    private static let maximumBytes = 1_073_741_824

    let path: String
    let keepsIdentity: Bool
    let console: Console

    /// Returns the devices that the query matches, or all.
    ///
    /// - Throws: A failure for a file that cannot be read, and if no device matches.
    func devices(_ query: DeviceQuery?) throws(Failure) -> [DeviceRecording] {
        guard path.lowercased().hasSuffix(".jsonl") else { return try captured(query) }
        let recording: DeviceRecording
        do throws(DescriptionError) {
            recording = try DeviceRecording(contentsOfFile: path)
        } catch {
            throw Failure(.usage, "\(error)")
        }
        let device = recording.device
        if let query, !query.matches(device.effectiveAddress, device.name) { throw missing(query) }
        return [keepsIdentity ? recording : recording.redacted]
    }

    /// Returns the devices of a capture; if it is cut off, those before the end.
    private func captured(_ query: DeviceQuery?) throws(Failure) -> [DeviceRecording] {
        let bytes = try contents()
        var recorder = CaptureRecorder(keepsIdentity: keepsIdentity)
        var reader: CaptureReader
        do throws(CaptureReadError) {
            reader = try CaptureReader(bytes, file: path)
        } catch {
            throw Failure(.usage, "\(error)")
        }
        do throws(CaptureReadError) {
            while let record = try reader.next() { recorder.add(record) }
        } catch {
            console.warn(PrintableText.of("\(error): the rest of the file is left out"))
        }
        let source = DeviceRecording.Source(backend: "capture", isRedacted: !keepsIdentity)
        let found = recorder.recordings(source, where: query.map { query in { query.matches($0, $1) } })
        guard !found.isEmpty else {
            if let query { throw missing(query) }
            throw Failure(.failed, "\(path): there is no device in the capture")
        }
        if reader.otherPacketCount > 0 {
            console.warn("left out: packets that are not of Bluetooth Low Energy (\(reader.otherPacketCount))")
        }
        for loss in recorder.losses { console.warn(loss) }
        return found
    }

    private func missing(_ query: DeviceQuery) -> Failure {
        Failure(.failed, "\(path): there is no device \(query.text)")
    }

    private func contents() throws(Failure) -> [UInt8] {
        do throws(InputFileError) {
            return try InputFile.contents(of: path, atMost: Self.maximumBytes)
        } catch {
            let rule = error.isTooLarge ? "a capture has \(Self.maximumBytes) bytes or fewer" : nil
            throw Failure(.usage, "\(path): \(rule ?? "the file cannot be read: \(error.reason)")")
        }
    }
}

extension DeviceQuery {
    fileprivate func matches(_ device: DeviceAddress, _ name: String) -> Bool {
        switch self {
        case .name(let text): name.lowercased() == text.lowercased()
        case .address(let address): device.description == address
        case .identifier, .last: false
        }
    }
}
#endif
