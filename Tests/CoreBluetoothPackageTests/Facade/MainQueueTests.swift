#if Emulator && os(Linux)
import Foundation
import Testing

/// A manager without a queue of its own works under every kind of main thread.
///
/// Each is a program of its own; the tests themselves are the kind that Swift Testing makes
/// (`S3_withoutAQueueCallbacksComeOnTheMainQueue`).
@Suite struct MainQueueTests {
    /// Proves S3.
    @Test(arguments: [("BlockingMain", ["runloop"]), ("BlockingMain", ["dispatch"]), ("AsyncMain", [])])
    func S3_theMainQueueIsServedByEveryKindOfMain(program: String, arguments: [String]) async throws {
        let (status, output) = try await run(program, arguments)
        #expect(status == 0)
        #expect(output == "poweredOn\n")
    }

    /// Proves S152.
    @Test(arguments: ["runloop", "nested", "dispatch", "poll"])
    func S152_streamsWorkUnderEveryKindOfMain(style: String) async throws {
        let (status, output) = try await run("ChannelMain", [style])
        #expect(status == 0)
        #expect(output == "echoed 100000 bytes\n")
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let process = Process()
        process.executableURL = bundle.deletingLastPathComponent().appendingPathComponent(program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(["COREBLUETOOTH_BACKEND": "emulator"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                continuation.resume(throwing: error)
            }
        }
        return (status, String(decoding: output.fileHandleForReading.availableData, as: UTF8.self))
    }
}
#endif
