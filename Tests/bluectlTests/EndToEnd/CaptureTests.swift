#if Emulator && os(Linux)
import ChildProcesses
import Foundation
import Testing

/// The option `--capture` and the variable `COREBLUETOOTH_CAPTURE`.
@Suite struct CaptureTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pcapng").path

    /// Returns the bytes of the file, which is removed.
    private func bytes() throws -> Data {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try FileManager.default.removeItem(atPath: file)
        return bytes
    }

    /// Whether the bytes contain a notification of the Heart Rate Measurement: its handle and its flags.
    private func containsMeasurement(_ bytes: Data) -> Bool {
        bytes.range(of: Data([0x04, 0x00, 0x1B, 0x0A, 0x00, 0x16])) != nil
    }

    @Test func aCommandLeavesACaptureOfItsPackets() async throws {
        let outcome = try await Tool.run(["demo", "--capture", file])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(containsMeasurement(try bytes()))
    }

    @Test func aVariableCapturesAnyProgram() async throws {
        let outcome = try await Tool.run(["demo"], environment: ["COREBLUETOOTH_CAPTURE": file])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(containsMeasurement(try bytes()))
    }

    @Test func aFileThatCannotBeMadeEndsTheCommandBeforeItBegins() async throws {
        let outcome = try await Tool.run(["demo", "--capture", "/nowhere/air.pcapng"])
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("--capture: /nowhere/air.pcapng: No such file or directory"))
    }

    @Test func aVariableThatNamesNoPlaceIsALineOfTheLog() async throws {
        let outcome = try await Tool.run(["demo"], environment: ["COREBLUETOOTH_CAPTURE": "/nowhere/air.pcapng"])
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("no capture: COREBLUETOOTH_CAPTURE: /nowhere/air.pcapng"))
    }

    /// An emulated `bluetoothd` serves the backend: neither the option nor the variable captures its air.
    @Test(arguments: ["bluectl --capture", "COREBLUETOOTH_CAPTURE"])
    func onBlueZTheAppsOwnViewIsCapturedAndMarked(way: String) async throws {
        let read = "--backend bluez read \"Heart Rate Monitor\" 2A38"
        let isOption = way.hasPrefix("bluectl")
        let script = isOption ? "$TOOL \(read) --capture \(file)" : "COREBLUETOOTH_CAPTURE=\(file) $TOOL \(read)"
        let outcome = try await Tool.run(
            ["world", "run", "--", "sh", "-c", script], environment: ["TOOL": Tool.path])
        #expect(outcome.status == 0 && outcome.output.contains("chest"), "\(outcome.errors)")
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)
        #expect(text.contains("synthetic: the app's view, not the air; \"sudo btmon --write FILE\" captures"))
        let recorded = try await Tool.run(["record", "--from", file])
        #expect(
            recorded.output.contains("\"2A38\"") && recorded.output.contains("\"value\" : \"01\""), "\(recorded.errors)"
        )
        #expect(!recorded.errors.contains("left out"), "\(recorded.errors)")
        #expect(recorded.errors.contains("the capture is the view of an app, not of the air"), "\(recorded.errors)")
    }

    private static let tshark = "/usr/bin/tshark"
    /// Whether tshark is installed, as in continuous integration; without it, the test is skipped.
    private static let hasTshark =
        FileManager.default.isExecutableFile(atPath: tshark) || ProcessInfo.processInfo.environment["CI"] == "true"

    @Test(.enabled(if: hasTshark, "tshark reads the capture"))
    func wiresharkNamesWhatTheAppGotFromBlueZ() async throws {
        let outcome = try await Tool.run(
            [
                "world", "run", "--", Tool.path, "--backend", "bluez", "--capture", file, "subscribe",
                "Heart Rate Monitor", "2A37", "--count", "2",
            ])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let decoded = try await ChildProcess.run(Self.tshark, ["-r", file])
        let notified = decoded.output.split(separator: "\n").filter { $0.contains("Rcvd Handle Value Notification") }
        #expect(notified.count >= 2 && notified.allSatisfy { $0.contains("Heart Rate Measurement") }, "\(notified)")
        let malformed = try await ChildProcess.run(Self.tshark, ["-r", file, "-Y", "_ws.malformed"])
        #expect(malformed.status == 0 && malformed.output.isEmpty, "\(malformed.output)")
        try FileManager.default.removeItem(atPath: file)
    }
}
#endif
