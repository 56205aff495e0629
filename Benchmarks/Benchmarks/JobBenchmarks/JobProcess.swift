import Foundation

/// The result of a job, as it prints it.
struct JobResult: Decodable {
    /// The milliseconds from the start of the job until it was ready.
    let ready: Int
    /// The number of values or scan reports received after that.
    let values: Int
    /// The processor time meanwhile, in microseconds.
    let processorTime: Int
    let voluntarySwitches: Int
    /// The resident memory at the end, in KiB.
    let memory: Int
}

/// A job in a process of its own: this package's, or bleak's.
enum JobProcess {
    static let devices = 50
    static let seconds = 10

    /// Runs a job of this package.
    ///
    /// - Parameter backend: `bluez`, or a file that describes an emulated world.
    static func run(_ job: String, on backend: String) throws -> JobResult {
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("Job")
        return try run(program, [job, backend])
    }

    /// Runs the same job with bleak; returns nil if `BLEAK_PYTHON` names no Python that has it.
    static func runBleak(_ job: String) throws -> JobResult? {
        guard let python = ProcessInfo.processInfo.environment["BLEAK_PYTHON"] else { return nil }
        return try run(URL(fileURLWithPath: python), [file("bleak_job.py"), job])
    }

    /// The path of a file in the folder of this source.
    static func file(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name).path
    }

    private static func run(_ program: URL, _ arguments: [String]) throws -> JobResult {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments + ["\(devices)", "\(seconds)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        // The daemon ends links after two seconds, as bluetoothd does; the next pass begins without them.
        sleep(3)
        return try JSONDecoder().decode(JobResult.self, from: data)
    }
}
