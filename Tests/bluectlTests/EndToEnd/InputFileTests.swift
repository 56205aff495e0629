#if Emulator && os(Linux)
import Foundation
import Testing

/// Input files of commands, which may also be pipes and standard input.
@Suite struct InputFileTests {
    private func run(_ script: String) async throws -> Tool.Outcome {
        try await Tool.withFolder { folder in try await Tool.shell("cd \(folder.path); \(script)") }
    }

    @Test(arguments: [
        "echo '{\"seed\": 7}' | \"$TOOL\" world check /dev/stdin", "\"$TOOL\" world check /dev/stdin <<< 'seed: 7'",
        "\"$TOOL\" world check <(echo 'seed: 7')",
        "mkfifo p.yaml; echo 'seed: 7' > p.yaml & \"$TOOL\" world check p.yaml",
        "\"$TOOL\" world convert <(echo 'seed: 7') | \"$TOOL\" world check /dev/stdin",
    ])
    func aWorldIsReadFromAPipe(script: String) async throws {
        let outcome = try await run(script)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.hasSuffix(": no mistakes; 0 devices, 0 steps\n"), "\(outcome)")
    }

    @Test func aMistakeInAPipeHasItsPlace() async throws {
        let outcome = try await run("echo 'sed: 7' | \"$TOOL\" world check /dev/stdin")
        #expect(outcome.output.hasPrefix("/dev/stdin:1:1: sed: there is no such field"), "\(outcome)")
    }

    @Test func aScriptAValueARecordingAndATraceAreReadFromPipes() async throws {
        let script = """
            "$TOOL" --backend emulator shell --script <(echo adapters)
            "$TOOL" --backend emulator shell --script /dev/stdin <<< adapters
            "$TOOL" --backend emulator write Echo 0000EC41-7A3D-4C5B-9E1F-2B6A8D4C0F01 --file <(printf 12345)
            COREBLUETOOTH_TRACE=t.jsonl "$TOOL" --backend emulator scan --duration 1 > scan.txt
            "$TOOL" report --format text <(cat t.jsonl) | grep -c scan > count.txt
            test -s count.txt && echo reported
            """
        let outcome = try await run(script)
        let lines = outcome.lines
        #expect(lines.count == 4, "\(outcome)")
        #expect(lines.prefix(2).allSatisfy { $0.hasPrefix("default\t") })
        #expect(lines.dropFirst(2).first?.contains("5 bytes in 1 writes") == true)
        #expect(lines.last == "reported")
    }

    @Test(arguments: [
        ("world check .", ".: the file cannot be read: Is a directory"),
        ("world check none", "none: the file cannot be read: No such file or directory"),
        ("world check secret/w.json", "secret/w.json: the file cannot be read: Not a directory"),
        ("shell --script none", "none: the script cannot be read: No such file or directory"),
        ("report none", "none: the file cannot be read: No such file or directory"),
        ("world check /dev/zero", "/dev/zero: the file cannot be read: It has more than 16777216 bytes"),
    ])
    func anErrorNamesTheReason(command: String, error: String) async throws {
        let outcome = try await run("touch secret; \"$TOOL\" \(command)")
        #expect(outcome.errors == "bluectl: \(error)\n")
    }
}
#endif
