import Foundation

/// The job by bleak, in a separate process.
enum BleakJob {
    /// Returns nil if `BLEAK_PYTHON` names no Python that has bleak.
    static func run(devices: Int, seconds: UInt32) throws -> JobResult? {
        guard let python = ProcessInfo.processInfo.environment["BLEAK_PYTHON"] else { return nil }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("bleak_job.py")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [script.path, "\(devices)", "\(seconds)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode(JobResult.self, from: data)
    }
}
