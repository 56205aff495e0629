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

    private static let btmon = "sudo btmon --write"

    @Test func withoutEmulatedDevicesTheOptionIsRefused() async throws {
        let outcome = try await Tool.run(["--backend", "bluez", "scan", "--capture", file])
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("--capture needs emulated devices"), "\(outcome.errors)")
        #expect(outcome.errors.contains("\(Self.btmon) \(file)"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    /// Runs a command in the world of an emulated `bluetoothd`.
    private func onBlueZ(_ command: String) async throws -> Tool.Outcome {
        let read = "\(command) read \"Heart Rate Monitor\" 2A38"
        let outcome = try await Tool.run(["world", "run", "--", "sh", "-c", read], environment: ["TOOL": Tool.path])
        #expect(outcome.status == 0 && outcome.output.contains("chest"), "\(outcome.errors)")
        return outcome
    }

    @Test func onBlueZTheVariableIsALineOfTheLog() async throws {
        for backend in ["bluez", "auto"] {
            let outcome = try await onBlueZ("COREBLUETOOTH_CAPTURE=\(file) $TOOL --backend \(backend)")
            let lines = outcome.errors.split(separator: "\n").filter { $0.contains("no capture: COREBLUETOOTH") }
            #expect(lines.count == 1 && lines.allSatisfy { $0.contains(Self.btmon) }, "\(backend): \(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func anAdapterInPlaceOfTheEmulatorLeavesTheCaptureEmpty() async throws {
        let outcome = try await onBlueZ("$TOOL --backend auto --capture \(file)")
        #expect(outcome.errors.contains("--capture: \(file) stays empty"), "\(outcome.errors)")
        #expect(outcome.errors.contains(Self.btmon), "\(outcome.errors)")
        #expect(!containsMeasurement(try bytes()))
    }
}
#endif
