#if os(Linux)
import BluetoothEmulator
import Foundation
import Testing

/// Tests that run the programs as processes, and read the world files.
struct ProgramTests {
    /// The folder of the test bundle, which contains the programs.
    private static func program(_ name: String) -> URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name)
    }

    @Test(arguments: try Self.worldFiles()) func aWorldFileCanBeRead(_ file: URL) throws {
        #expect(throws: Never.self) { try Emulator(worldFile: file.path) }
    }

    private static func worldFiles() throws -> [URL] {
        let folder = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Worlds").standardized
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
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
