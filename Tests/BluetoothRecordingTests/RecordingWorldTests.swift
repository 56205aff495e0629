import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothEmulator

/// The fields "recording" and "replay" of world files.
@Suite struct RecordingWorldTests {
    private static let recording = """
        {"recording":1,"device":{"name":"Strap","rssi":-50,"advertising":[{"data":{"localName":"Strap"}}]},\
        "source":{"backend":"bluez","redacted":true}}
        {"t":1,"read":"180F/2A19","value":"57"}

        """

    /// Calls `body` with the path of `w/world.json` in a folder of files, and removes the folder.
    private func withWorld<Result>(
        _ world: String, _ files: [String: String] = [:], _ body: (String) throws -> Result
    ) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let own = ["w/world.json": world, "w/strap.jsonl": Self.recording, "outside.jsonl": Self.recording]
        for (name, text) in own.merging(files, uniquingKeysWith: { $1 }) {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return try body(folder.appendingPathComponent("w/world.json").path)
    }

    @Test func aRecordedDeviceIsAsRecordedButForWhatTheFileSays() throws {
        let text = """
            {"devices": [{"recording": "strap.jsonl"}, {"name": "Other", "recording": "strap.jsonl", "rssi": -70,
            "replay": {"reads": "last", "speed": 2}}, {"name": "T {n}", "count": 2, "recording": "strap.jsonl"}]}
            """
        let world = try withWorld(text) { try WorldDescription(contentsOfFile: $0) }
        #expect(world.devices.map(\.name) == ["Strap", "Other", "T 1", "T 2"])
        #expect(world.devices.map(\.rssi) == [-50, -70, -50, -50])
        #expect(world.devices.map { $0.advertising[0].data.localName } == ["Strap", "Other", "T 1", "T 2"])
        #expect(world.devices[1].replay?.options == ReplayOptions(reads: .last, speed: 2))
        #expect(world.devices.allSatisfy { $0.replay?.recording.events.count == 1 })
    }

    @Test func aWrittenWorldNamesTheRecordingAndWhatDiffersFromIt() throws {
        let written = #"{"devices": [{"recording": "strap.jsonl", "rssi": -70, "replay": {"speed": 2}}]}"#
        let world = try withWorld(written) { try WorldDescription(contentsOfFile: $0) }
        let text = String(decoding: try world.json(), as: UTF8.self).filter { !" \n".contains($0) }
        let device = #""name":"Strap","recording":"strap.jsonl","replay":{"speed":2},"rssi":-70"#
        #expect(text.contains(device), "\(text)")
        let again = try withWorld(String(decoding: try world.json(), as: UTF8.self)) {
            try WorldDescription(contentsOfFile: $0)
        }
        #expect(again == world)
    }

    @Test func aRecordingOfAnIncludedFileIsBesideThatFile() throws {
        let files = [
            "w/sub/strap.json": #"{"devices": [{"recording": "deep.jsonl"}]}"#, "w/sub/deep.jsonl": Self.recording,
        ]
        let world = try withWorld(#"{"include": ["sub/strap.json"]}"#, files) {
            try WorldDescription(contentsOfFile: $0)
        }
        #expect(world.devices[0].replay?.file == "sub/deep.jsonl")
    }

    @Test(arguments: [
        (#"{"recording": "../outside.jsonl"}"#, "devices[0].recording: a recording is in the folder of the world file"),
        (#"{"recording": "/etc/passwd"}"#, "devices[0].recording: the path of a recording is relative to the world"),
        (#"{"recording": ""}"#, "devices[0].recording: the path of a recording is relative to the world file"),
        (#"{"recording": "."}"#, "devices[0].recording: a recording is in the folder of the world file"),
        (#"{"recording": "no.jsonl"}"#, "devices[0].recording: the file cannot be read"),
        (#"{"recording": "sub"}"#, "devices[0].recording: a recording is a regular file"),
        (#"{"recording": 3}"#, "devices[0].recording: text is wanted here"),
        (#"{"name": "A", "replay": {}}"#, "devices[0].replay: only a device with a recording plays one"),
        (#"{"recording": "strap.jsonl", "handler": "battery"}"#, "devices[0].handler: a device has a handler or a"),
        (
            #"{"recording": "strap.jsonl", "replay": {"speed": 0}}"#,
            "devices[0].replay.speed: the speed is 0.001...1000"
        ),
        (#"{"recording": "strap.jsonl", "replay": {"x": 0}}"#, "devices[0].replay.x: there is no such field"),
        ("{}", "devices[0]: the field \"name\" is missing"),
        (#"{"recording": "bad.jsonl"}"#, "w/bad.jsonl:2:9: link: a link is opened or closed"),
        (#"{"recording": "world.json"}"#, "w/world.json:1:2: devices: there is no such field"),
    ])
    func aMistakeNamesItsFileAndItsRule(device: String, message: String) throws {
        let bad =
            (Self.recording.split(separator: "\n").first.map(String.init) ?? "") + "\n{\"t\":1,\"link\":\"x\"}\n{}"
        let files = ["w/bad.jsonl": bad.replacing("\"t\":1,", with: "\"t\":1, "), "w/sub/x.json": "{}"]
        for collects in [false, true] {
            let found = try withWorld("{\"devices\": [\(device)]}", files) { path -> String in
                let files = try WorldFiles(
                    path, text: try Data(contentsOf: URL(fileURLWithPath: path)), format: .json(root: path))
                let error: DescriptionError?
                if collects {
                    error = files.allMistakes().first
                } else {
                    error = #expect(throws: DescriptionError.self) { try files.world() }
                }
                return error?.description ?? "none"
            }
            #expect(found.contains(message), "\(found)")
        }
    }

    @Test func aLinkOutOfTheFolderIsRefused() throws {
        try withWorld(#"{"devices": [{"recording": "link.jsonl"}]}"#) { path in
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createSymbolicLink(
                atPath: folder.appendingPathComponent("link.jsonl").path,
                withDestinationPath: folder.deletingLastPathComponent().appendingPathComponent("outside.jsonl").path)
            let error = #expect(throws: DescriptionError.self) { try WorldDescription(contentsOfFile: path) }
            #expect(error?.rule == "a recording is in the folder of the world file or below")
        }
    }

    @Test func aTextHasNoFolderForRecordings() {
        let text = Data(#"{"devices": [{"recording": "strap.jsonl"}]}"#.utf8)
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(json: text) }
        #expect(error?.rule == "only a file can name a recording: a text has no folder in which it is")
    }

    @Test func aWorldHasSixtyFourRecordingsOrFewer() throws {
        let names = (0...64).map { "r\($0).jsonl" }
        let devices = names.map { "{\"name\": \"\($0)\", \"recording\": \"\($0)\"}" }.joined(separator: ",")
        let files = Dictionary(names.map { ("w/\($0)", Self.recording) }) { first, _ in first }
        try withWorld("{\"devices\": [\(devices)]}", files) { path in
            let error = #expect(throws: DescriptionError.self) { try WorldDescription(contentsOfFile: path) }
            #expect(
                error?.path == "devices[64].recording" && error?.rule.hasPrefix("a world has 64 recordings") == true)
        }
    }
}
