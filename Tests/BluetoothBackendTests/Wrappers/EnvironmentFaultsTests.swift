import BluetoothBackend
import BluetoothInstrumentation
import BluetoothSupport
import FoundationEssentials
import Testing

/// The plan that `COREBLUETOOTH_FAULTS` names.
struct EnvironmentFaultsTests {
    /// Returns what a file with a text means.
    private func plan(_ text: String) throws -> FaultPlan? {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
        try Data(text.utf8).write(to: file)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        return try EnvironmentFaults.make(["COREBLUETOOTH_FAULTS": file.path])
    }

    @Test func withoutTheVariableThereIsNoPlan() throws {
        #expect(try EnvironmentFaults.make([:]) == nil)
        #expect(try EnvironmentFaults.make(["COREBLUETOOTH_FAULTS": ""]) == nil)
    }

    @Test func aFileIsAPlan() throws {
        let place = FaultPlace(.centralEvent(.written), characteristic: "FFE1", manager: 2)
        let read = try plan(
            """
            {"seed": 3, "faults": [{"where": {"kind": "centralEvent.written", "characteristic": "FFE1", "manager": 2},
             "when": {"nth": 4}, "what": {"disconnect": "timeout"}}]}
            """)
        #expect(
            read == FaultPlan(seed: 3, faults: [Fault(place, .nth(number: 4), .disconnect(reason: .timeout))]))
    }

    @Test(arguments: [
        ("{", "not valid JSON"), ("[]", "array"), (#"{"faults": []}"#, "seed: missing"),
        (
            #"{"seed": 1, "faults": [{"where": {"kind": "x"}, "when": "once", "what": "drop"}]}"#,
            #"faults[0].where.kind: "x" names no command and no event"#
        ),
        (
            #"{"seed": 1, "faults": [{"where": {"kind": "centralEvent.written"}, "when": "ever", "what": "drop"}]}"#,
            "faults[0].when: one of once, nth, rate, after is needed"
        ),
        (
            #"{"seed": 1, "faults": [{"where": {"kind": "centralEvent.written"}, "when": "nth", "what": "drop"}]}"#,
            "faults[0].when.nth: missing"
        ),
        (
            #"{"seed": 1, "faults": [{"where": {"kind": "centralEvent.written"}, "when": "once", "#
                + #""what": {"delay": "5"}}]}"#, #"faults[0].what.delay: "5": a time is a number and a unit"#
        ),
        (
            #"{"seed": 1, "faults": [{"where": {"kind": "centralEvent.connected"}, "when": "once", "#
                + #""what": "drop"}]}"#, "faults[0]: centralEvent.connected cannot be lost"
        ),
    ])
    func aFileThatIsNoPlanIsAnErrorWithItsPlace(_ text: String, _ rule: String) {
        let error = #expect(throws: SettingsError.self) { try plan(text) }
        #expect(error?.description.hasPrefix("COREBLUETOOTH_FAULTS: /") == true)
        #expect(error?.description.contains(rule) == true, "\(error?.description ?? "")")
    }

    @Test func aMissingFileIsAnErrorWithTheSystemsReason() {
        let error = #expect(throws: SettingsError.self) {
            try EnvironmentFaults.make(["COREBLUETOOTH_FAULTS": "/nowhere/plan"])
        }
        #expect(error?.description == "COREBLUETOOTH_FAULTS: /nowhere/plan: No such file or directory")
    }
}
