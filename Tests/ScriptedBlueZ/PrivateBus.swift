#if os(Linux)
public import BluetoothDBus
import Foundation

/// A `dbus-daemon` of the test's own, on an address of its own; gone with the last reference.
public final class PrivateBus: @unchecked Sendable {
    // Invariant: `process` is used by `init`, `kill` and `deinit` only, and Process locks itself.
    private let process = Process()
    private let directory: URL
    /// Where it listens.
    public let address: DBusAddress

    /// Starts the daemon and waits until it listens.
    ///
    /// - Parameters:
    ///   - limits: Daemon limits by name, such as `max_match_rules_per_connection`.
    ///   - activatable: Names of services that the daemon may start, each with the command line that does so.
    public init(limits: [String: Int] = [:], activatable: [String: String] = [:]) throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("dbus-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, command) in activatable {
            try "[D-BUS Service]\nName=\(name)\nExec=\(command)\n".write(
                to: directory.appendingPathComponent("\(name).service"), atomically: true, encoding: .utf8)
        }
        let configuration = directory.appendingPathComponent("bus.conf")
        try Self.configuration(directory: directory.path, limits: limits)
            .write(to: configuration, atomically: true, encoding: .utf8)
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        process.arguments = ["--nofork", "--nosyslog", "--print-address", "--config-file=\(configuration.path)"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let text = line.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw CocoaError(.fileReadUnknown) }
        address = .explicit(text)
    }

    deinit {
        kill()
        do {
            try FileManager.default.removeItem(at: directory)
        } catch {
            print("left behind: \(directory.path): \(error)")
        }
    }

    /// Ends the daemon at once, as a crash would.
    public func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func configuration(directory: String, limits: [String: Int]) -> String {
        let limits = limits.sorted { $0.key < $1.key }.map { "<limit name=\"\($0.key)\">\($0.value)</limit>" }
        return """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(directory)/socket</listen>
              <servicedir>\(directory)</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
              \(limits.joined(separator: "\n  "))
            </busconfig>
            """
    }
}
#endif
