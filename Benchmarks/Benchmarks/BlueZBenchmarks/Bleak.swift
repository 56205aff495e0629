import Foundation

/// The same work by bleak, in a separate process.
enum Bleak {
    /// Returns the processor time of one operation; nil if no Python with bleak is named.
    static func nanoseconds(_ work: String, _ count: Int, on address: String) throws -> Int? {
        guard let python = ProcessInfo.processInfo.environment["BLEAK_PYTHON"] else { return nil }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "bleak_client.py")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [script.path, work, String(count)]
        process.environment = ProcessInfo.processInfo.environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": address]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let number = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ScriptedBus.StartError(what: "bleak: \(text)")
        }
        return number
    }
}
