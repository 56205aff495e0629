#if Emulator
import BluetoothEmulator
import BluetoothRecording
import BluetoothSupport
import Foundation

/// The output of `record`: a world file, a recording, or standard output.
@MainActor
struct RecordingOutput {
    private let path: String?
    private let console: Console

    init(path: String?, console: Console) {
        self.path = path
        self.console = console
    }

    /// The path, if a recording is wanted.
    var recordingPath: String? { path.flatMap { $0.lowercased().hasSuffix(".jsonl") ? $0 : nil } }

    /// Writes a recording that `collected` may have written already.
    func write(_ recording: DeviceRecording, _ collected: CollectedRecording) throws {
        if let path = recordingPath {
            if let problem = collected.problem { throw Failure(.failed, problem) }
            return report([recording], path, advice: "play it with {\"devices\": [{\"recording\": \"…\"}]}")
        }
        try writeWorld([recording])
    }

    /// Writes the devices of a file.
    func write(_ recordings: [DeviceRecording]) throws {
        if let path = recordingPath {
            guard let only = recordings.first, recordings.count == 1 else {
                throw Failure(.usage, "a recording has one device, and the file \(recordings.count): name one")
            }
            try OutputFile.replace(path, with: Array(try only.jsonLines()))
            return report(recordings, path, advice: nil)
        }
        try writeWorld(recordings)
    }

    private func writeWorld(_ recordings: [DeviceRecording]) throws {
        let devices = recordings.map { $0.plainDevice() }
        for device in devices {
            for loss in device.losses { console.warn(PrintableText.of("\(device.description.name): \(loss)")) }
        }
        let world = WorldDescription(devices: devices.map(\.description))
        let text: Data
        do {
            try world.validate()
            text = try world.json()
        } catch {
            throw Failure(.failed, "what was recorded is no valid world: \(error)")
        }
        guard let path else { return console.print(String(decoding: text, as: UTF8.self)) }
        try OutputFile.replace(path, with: Array(text) + [UInt8(ascii: "\n")])
        report(recordings, path, advice: nil)
    }

    private func report(_ recordings: [DeviceRecording], _ path: String, advice: String?) {
        for recording in recordings {
            let counts = RecordingCounts(recording)
            let name = PrintableText.of(recording.device.name)
            console.show(
                [
                    "device": recording.device.name, "file": path, "services": counts.services,
                    "requests": counts.requests, "notifications": counts.notifications,
                ],
                [
                    "\(name): \(counts.text) → \(PrintableText.of(path))"
                ])
        }
        if let advice {
            console.warn(advice.replacing("…", with: PrintableText.of((path as NSString).lastPathComponent)))
        }
        if recordings.contains(where: \.source.isRedacted) {
            console.warn("addresses and serial numbers are replaced; the name is kept")
        }
    }
}

/// The numbers of a recording's contents.
private struct RecordingCounts {
    let services: Int
    var requests = 0
    var notifications = 0

    init(_ recording: DeviceRecording) {
        services = recording.device.services.count
        for event in recording.events {
            switch event.kind {
            case .request: requests += 1
            case .notified: notifications += 1
            default: break
            }
        }
    }

    var text: String {
        [(services, "service"), (requests, "request"), (notifications, "notification")]
            .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }.joined(separator: ", ")
    }
}
#endif
