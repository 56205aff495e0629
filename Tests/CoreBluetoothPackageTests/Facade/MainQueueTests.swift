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
        #expect(status == 0)
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "poweredOn\n")
    }
}
#endif
