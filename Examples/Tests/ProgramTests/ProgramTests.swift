#if os(Linux)
import Foundation
import Testing

/// Runs the programs as processes.
struct ProgramTests {
    /// The folder of the test bundle, which contains the programs.
    private static func program(_ name: String) -> URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name)
    }

    @Test func whereThereIsNoAdapterAProgramSaysSoAndDoesNotCrash() throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = Self.program("AsyncHeartRate")
        process.environment = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = try output.fileHandleForReading.readToEnd().map { String(decoding: $0, as: UTF8.self) } ?? ""
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 1)
        #expect(text.hasPrefix("Bluetooth cannot be used: "), "\(text)")
    }
}
#endif
