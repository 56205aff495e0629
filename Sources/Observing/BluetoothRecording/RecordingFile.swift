import BluetoothBackend
package import BluetoothEmulator
package import BluetoothSupport
import Logging

/// A file to which a recording is appended, line by line.
///
/// Not thread-safe. A write error ends the recording and not the program: one line of the log gives the reason. The
/// limits ``DeviceRecording/maximumEvents`` and ``DeviceRecording/maximumBytes`` end a recording, too.
package final class RecordingFile {
    /// The file's name, as given.
    package let name: String
    private let source: DeviceRecording.Source
    /// nil once the recording has ended.
    private var output: OutputFile?
    /// The reason why the recording has ended; nil before that.
    package private(set) var endReason: String?
    private var hasBegun = false
    private var eventCount = 0
    private var byteCount = 0

    /// Creates a file, which replaces an existing one; only the user may read it.
    ///
    /// - Throws: ``OutputFileError`` if it cannot be written.
    package init(_ name: String, _ source: DeviceRecording.Source) throws(OutputFileError) {
        self.name = name
        self.source = source
        output = try OutputFile(name)
    }

    /// Appends lines; the first one describes the device.
    package func write(_ lines: [DeviceRecorder.Line]) {
        do {
            for line in lines { try write(line) }
        } catch {
            end("\(error)")
        }
    }

    private func write(_ line: DeviceRecorder.Line) throws {
        switch line {
        case .device(let device, let time):
            try append(
                hasBegun ? DeviceRecording.line(device, at: time) : DeviceRecording.firstLine(device, source))
            hasBegun = true
        case .event(let event):
            guard eventCount < DeviceRecording.maximumEvents else {
                return end("it has \(DeviceRecording.maximumEvents) events, and no recording has more")
            }
            eventCount += 1
            try append(DeviceRecording.line(event))
        }
    }

    private func append(_ line: Data) throws {
        guard let output else { return }
        guard byteCount + line.count <= DeviceRecording.maximumBytes else {
            return end("it has \(DeviceRecording.maximumBytes) bytes, and no recording has more")
        }
        byteCount += line.count
        try output.write(Array(line))
    }

    private func end(_ reason: String) {
        guard output != nil else { return }
        output = nil
        endReason = reason
        Logger(label: "CoreBluetooth").line(.error, "the recording \(name) has ended: \(reason)")
    }
}
