#if Emulator && os(Linux)
import BluetoothSupport
import ChildProcesses
import Foundation
import Testing

/// The variable `COREBLUETOOTH_FAULTS` of an unchanged program.
@Suite struct FaultsTests {
    private func read(_ plan: String) async throws -> Tool.Outcome {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        try plan.write(to: file, atomically: false, encoding: .utf8)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        return try await Tool.run(
            ["--backend", "emulator", "read", "Heart Rate Monitor", "2A19"],
            environment: ["COREBLUETOOTH_FAULTS": file.path])
    }

    @Test func aVariableInjectsThePlanInAnyProgramAndTheLogSaysSo() async throws {
        let outcome = try await read(
            """
            {"seed": 1, "faults": [{"where": {"kind": "centralCommand.read", "characteristic": "2A19", "manager": 1},
             "when": "once", "what": {"error": {"code": "att", "attCode": 128, "operation": "read"}}}]}
            """)
        #expect(outcome.status != 0, "\(outcome.output)")
        #expect(outcome.errors.contains("COREBLUETOOTH_FAULTS is set: the faults of /"), "\(outcome.errors)")
        #expect(outcome.errors.contains("0x80"), "\(outcome.errors)")
    }

    @Test func aPlanThatCannotBeReadIsALineOfTheLog() async throws {
        let outcome = try await read("{}")
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("no faults: COREBLUETOOTH_FAULTS: /"), "\(outcome.errors)")
    }
}
#endif
