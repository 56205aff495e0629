import Foundation

/// A gateway process that is started, killed and started again.
///
/// Invariant of `@unchecked Sendable`: one task at a time uses it.
final class GatewayProcess: @unchecked Sendable {
    let name: String
    /// The number of the present process, from 1; 0 before the first.
    private(set) var number: UInt32 = 0
    /// The numbers of the processes that were killed.
    private(set) var killed: Set<UInt32> = []
    /// The CPU time of the processes so far, and the largest resident memory in kilobytes.
    private(set) var usage = Usage()
    private let arguments: [String]
    private let folder: URL
    private var process: Process?

    struct Usage {
        var cpuSeconds = 0.0
        var peakKilobytes = 0
    }

    init(_ name: String, folder: URL, arguments: [String]) {
        self.name = name
        self.folder = folder
        self.arguments = arguments
    }

    func start() throws {
        number += 1
        let log = folder.appending(path: "\(name)-\(number).log")
        try Data().write(to: log)
        let output = try FileHandle(forWritingTo: log)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["simulate", "--name", name, "--folder", folder.path, "--process", "\(number)"] + arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        self.process = process
    }

    func send(_ signal: Int32) {
        guard let process, process.isRunning else { return }
        kill(process.processIdentifier, signal)
    }

    /// Ends the process with SIGKILL.
    func kill9() {
        readUsage()
        killed.insert(number)
        send(SIGKILL)
        process?.waitUntilExit()
    }

    /// Ends the process with SIGTERM.
    ///
    /// - Returns: The exit status.
    func stop() -> Int32 {
        readUsage()
        send(SIGTERM)
        process?.waitUntilExit()
        return process?.terminationStatus ?? -1
    }

    /// Adds the usage of the present process from `/proc`.
    private func readUsage() {
        guard let process, process.isRunning else { return }
        let folder = "/proc/\(process.processIdentifier)"
        if let stat = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8) {
            // The name in parentheses is followed by the state, and ten fields later by the ticks in user and system
            // mode.
            let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
            if fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) {
                usage.cpuSeconds += (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
            }
        }
        if let status = try? String(contentsOfFile: "\(folder)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(separator: " ").compactMap({ Int($0) }).first
        {
            usage.peakKilobytes = max(usage.peakKilobytes, kilobytes)
        }
    }
}
