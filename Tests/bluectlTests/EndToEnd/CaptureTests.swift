#if Emulator && os(Linux)
import ChildProcesses
import Foundation
import Testing

/// `--capture` and `COREBLUETOOTH_CAPTURE`.
@Suite struct CaptureTests {
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pcapng").path

    /// The bytes of the file, which is removed.
    private func bytes() throws -> Data {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try FileManager.default.removeItem(atPath: file)
        return bytes
    }

    /// A notification of the Heart Rate Measurement: its handle and its flags.
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

    @Test func aRealAdapterIsForBtmon() async throws {
        let outcome = try await Tool.run(["--backend", "bluez", "scan", "--capture", file])
        #expect(outcome.status == 2 && outcome.errors.contains("sudo btmon --write"))
        #expect(!FileManager.default.fileExists(atPath: file))
    }
}
#endif
