#if Emulator && os(Linux)
import BluetoothEmulator
import ChildProcesses
import Foundation
import Testing

/// The command `record`, the variable `COREBLUETOOTH_RECORD`, and worlds that play their recordings.
@Suite struct RecordCommandTests {
    private static let heart = "Heart Rate Monitor"

    /// Calls `body` with an empty folder, and removes it.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder)
    }

    private func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> Tool.Outcome {
        try await Tool.run(["--backend", "emulator"] + arguments, environment: environment)
    }

    /// A strap that notifies ten times a second.
    private static let strap = """
        {"preset": "instant", "devices": [{"name": "Strap", "advertising": [{"data": {"localName": "Strap"}}],
        "services": [{"uuid": "180D", "characteristics": [
        {"uuid": "2A37", "properties": ["notify"], "timer": {"interval": "100 ms", "values": ["063C", "063D"]}},
        {"uuid": "2A38", "properties": ["read"], "value": "01"}]}]}]}
        """

    @Test func aRecordedDeviceIsAWorldWithTheSameValues() async throws {
        try await withFolder { folder in
            let original = folder.appendingPathComponent("original.json")
            try Data(Self.strap.utf8).write(to: original)
            let file = folder.appendingPathComponent("strap.json")
            let recorded = try await run(
                ["--world", original.path, "record", "Strap", "--for", "1", "--to", file.path])
            #expect(recorded.status == 0, "\(recorded.errors)")
            #expect(recorded.output.hasPrefix("Strap: 1 service, "), "\(recorded.output)")
            let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(permissions == 0o600)
            let world = ["--world", file.path]
            let read = try await run(world + ["read", "Strap", "2A38"])
            #expect(read.output == "Body Sensor Location 2A38: 01 (chest)\n", "\(read.errors)")
        }
    }

    @Test func aRecordingIsPlayedAndBecomesAWorldFile() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("strap.jsonl")
            let recorded = try await run(
                [
                    "record", Self.heart, "--for", "3", "--subscribe", "00002A37-0000-1000-8000-00805F9B34FB",
                    "--to", file.path, "--json",
                ])
            #expect(recorded.status == 0 && recorded.output.contains("\"notifications\":"), "\(recorded.errors)")
            let recording = try DeviceRecording(contentsOfFile: file.path)
            #expect(recording.source.backend == "emulator" && recording.source.isRedacted)
            let world = folder.appendingPathComponent("world.json")
            try Data(#"{"devices": [{"recording": "strap.jsonl"}]}"#.utf8).write(to: world)
            let values = try await run(["--world", world.path, "subscribe", Self.heart, "2A37", "--count", "1"])
            #expect(values.output.hasPrefix("Heart Rate Measurement 2A37: 163D"), "\(values.errors)")
            let converted = try await Tool.run(["record", "--from", file.path])
            #expect(try WorldDescription(json: Data(converted.output.utf8)).devices.map(\.name) == [Self.heart])
        }
    }

    @Test func aVariableRecordsTheDevicesOfAnyProgram() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("app.jsonl")
            let outcome = try await run(["read", Self.heart, "2A38"], ["COREBLUETOOTH_RECORD": file.path])
            #expect(outcome.status == 0 && outcome.output.contains("chest"))
            let recording = try DeviceRecording(contentsOfFile: file.path)
            let location = RecordedAttribute(service: "180D", characteristic: "2A38")
            let reads = recording.events.compactMap { event -> RecordedRequest? in
                if case .request(let request) = event.kind { request } else { nil }
            }
            #expect(reads.map(\.attribute) == [location] && reads.first?.value == Data([1]))
            let wrong = try await run(
                ["devices"], ["COREBLUETOOTH_RECORD": folder.appendingPathComponent("x.txt").path])
            #expect(
                wrong.errors.contains("no recording: COREBLUETOOTH_RECORD: the name of a recording ends with .jsonl"))
        }
    }

    @Test(arguments: [
        (["record"], "name a device, or a file with --from"),
        (["record", "A", "--to", "x.yaml"], "a world file is written in JSON: choose a name that ends with .json"),
        (["record", "--from", "x.jsonl", "--subscribe", "all"], "a file is only read: omit --subscribe"),
        (["record", "A", "--subscribe", "xyz"], "--subscribe: \"xyz\" is no UUID, nor all or none"),
        (["record", "--from", "/nowhere.jsonl"], "/nowhere.jsonl: the file cannot be read"),
    ])
    func aMistakeIsAUsageError(arguments: [String], message: String) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2 && outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func anIdentityThatWasKeptIsReplacedUnlessItIsKeptAgain() async throws {
        try await withFolder { folder in
            let kept = folder.appendingPathComponent("kept.jsonl")
            let arguments = ["record", Self.heart, "--for", "1", "--subscribe", "none", "--keep-identity"]
            let recorded = try await run(arguments + ["--to", kept.path])
            let address = try #require(try DeviceRecording(contentsOfFile: kept.path).device.address)
            #expect(recorded.status == 0, "\(recorded.errors)")
            let replaced = try await Tool.run(["record", "--from", kept.path])
            #expect(replaced.status == 0 && !replaced.output.contains(address.description), "\(replaced.output)")
            let again = try await Tool.run(["record", "--from", kept.path, "--keep-identity"])
            #expect(again.output.contains(address.description))
        }
    }

    @Test func aRecordingThatCannotBeWrittenToItsEndIsAFailure() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("full.jsonl")
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/full")
            let outcome = try await run(["record", Self.heart, "--for", "1", "--to", file.path])
            #expect(outcome.status == 1 && outcome.errors.contains("No space left on device"), "\(outcome.errors)")
        }
    }

    @Test func aDeviceThatIsNotThereLeavesNoFile() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("x.jsonl")
            let outcome = try await run(["record", "Not there", "--to", file.path, "--timeout", "1"])
            #expect(outcome.status == 3 && !FileManager.default.fileExists(atPath: file.path))
        }
    }
}
#endif
