#if Emulator && os(Linux)
import ChildProcesses
import Foundation
import Testing

/// The picture in README.
struct PictureTests {
    /// The command `make pictures` draws it again.
    @Test func thePictureIsWhatTheToolShows() async throws {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardizedFileURL
        let script = root.appendingPathComponent("Scripts/terminal-svg").path
        var environment = Tool.environment
        let folder = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path
        environment["PATH"] = "\(folder):\(environment["PATH"] ?? "/usr/bin:/bin")"
        let run = try await ChildProcess.run(
            "/usr/bin/env", ["python3", script, "--check"], environment: environment)
        #expect(run.status == 0, "\(run.output)")
    }
}
#endif
