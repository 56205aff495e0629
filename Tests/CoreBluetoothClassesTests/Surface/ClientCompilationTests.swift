#if os(Linux)
import ChildProcesses
import Foundation
import Testing

/// The compiler's diagnostics in another package, for which Apple's enumerations are open.
@Suite struct ClientCompilationTests {
    @Test(arguments: ["5", "6"])
    func switchesThatAppsWriteCompileWithoutAWarning(languageMode: String) async throws {
        let source = Self.tests.appendingPathComponent("ClientSourcesSwift6/StateSwitches.swift").path
        let run = try await compile(source, languageMode: languageMode, ["-warnings-as-errors"])
        #expect(run.status == 0, "\(run.output)")
    }

    #if hasAttribute(nonexhaustive)
    @Test(arguments: ["5", "6"])
    func aSwitchWithoutADefaultIsRefusedAsApplesSDKRefusesIt(languageMode: String) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).swift")
        let text = """
            import CoreBluetooth
            func text(_ type: CBCharacteristicWriteType) -> String {
                switch type {
                case .withResponse: return "request"
                case .withoutResponse: return "command"
                }
            }

            """
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let run = try await compile(file.path, languageMode: languageMode, [])
        // The diagnostic is a warning in Swift 5 mode, an error in Swift 6 mode.
        #expect((run.status == 0) == (languageMode == "5"), "\(run.output)")
        #expect(run.output.contains("may have additional unknown values"), "\(run.output)")
    }
    #endif

    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Compiles a file that belongs to no package; the output contains the compiler's diagnostics.
    private func compile(
        _ path: String, languageMode: String, _ options: [String]
    ) async throws -> ChildProcess.Outcome {
        let modules = ChildProcess.built("Modules")
        let command = "exec swiftc -emit-sil -o /dev/null -module-name Client \"$@\" 2>&1"
        let arguments = ["-c", command, "sh", "-swift-version", languageMode, "-I", modules] + options + [path]
        return try await ChildProcess.run("/bin/sh", arguments)
    }
}
#endif
