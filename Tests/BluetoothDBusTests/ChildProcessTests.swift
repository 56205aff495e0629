#if os(Linux)
import ChildProcesses
import Foundation
import Testing

struct ChildProcessTests {
    @Test func whatManyThreadsStartAtATimeSeesTheEndOfItsOwnInput() async throws {
        try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    try await ChildProcess.onThread {
                        let (input, lifeline) = try ChildProcess.pipe()
                        let child = try ChildProcess("/bin/sh", ["-c", "read -r _; exit 7"], input: input)
                        try input.close()
                        // If another waiting program inherited it, neither would end.
                        try lifeline.close()
                        return child.wait()
                    }
                }
            }
            for try await status in group { #expect(status == 7) }
        }
    }

    @Test func aSignalIsReportedAsByAShell() async throws {
        let status = try await ChildProcess.onThread {
            let child = try ChildProcess("/bin/sleep", ["60"])
            child.signal(SIGKILL)
            return child.wait()
        }
        #expect(status == 128 + SIGKILL)
    }

    @Test func whatIsNotThereCannotBeStarted() {
        #expect(throws: POSIXError.self) { try ChildProcess("/nonexistent") }
    }
}
#endif
