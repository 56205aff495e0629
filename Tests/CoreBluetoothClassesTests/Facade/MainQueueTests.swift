#if Emulator && os(Linux)
import ChildProcesses
import Foundation
import Testing

/// A manager without a queue works under every kind of main thread.
///
/// Each kind is a separate program; the tests themselves are the kind that Swift Testing makes
/// (`S3_withoutAQueueCallbacksComeOnTheMainQueue`).
@Suite struct MainQueueTests {
    @Test(arguments: [("BlockingMain", ["runloop"]), ("BlockingMain", ["dispatch"]), ("AsyncMain", [])])
    func S3_theMainQueueIsServedByEveryKindOfMain(program: String, arguments: [String]) async throws {
        let (status, output) = try await run(program, arguments)
        #expect(status == 0)
        #expect(output == "poweredOn\n")
    }

    @Test(arguments: ["runloop", "nested", "dispatch", "poll"])
    func S152_streamsWorkUnderEveryKindOfMain(style: String) async throws {
        let (status, output) = try await run("ChannelMain", [style])
        #expect(status == 0)
        #expect(output == "echoed 100000 bytes\n")
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let environment = ProcessInfo.processInfo.environment.merging(["COREBLUETOOTH_BACKEND": "emulator"]) { $1 }
        let run = try await ChildProcess.run(ChildProcess.built(program), arguments, environment: environment)
        return (run.status, run.output)
    }
}
#endif
