#if os(Linux)
public import BluetoothDBus
import BluetoothSupport
import ChildProcesses
import Foundation
import Synchronization

/// A private `dbus-daemon` on a separate address; it ends with the last reference.
///
/// It also ends when the test process crashes: a shell ends it, and removes its folder, once no process holds the other
/// end of the shell's input. (The kernel's death signal follows the parent thread, and a test's threads are
/// short-lived.)
public final class PrivateBus: Sendable {
    private let process: ChildProcess
    private let lifeline: Lock<FileHandle?>
    /// The address on which it listens.
    public let address: DBusAddress

    /// Starts the daemon and waits until it listens.
    ///
    /// - Parameters:
    ///   - limits: Daemon limits by name, such as `max_match_rules_per_connection`.
    ///   - activatable: Names of services that the daemon may start, each with the command line that does so.
    ///   - forbidden: Names to which the daemon's policy allows no message.
    ///   - isOverTCP: Whether it listens on a port of this machine, for everyone, instead of a socket of the file system.
    public init(
        limits: [String: Int] = [:], activatable: [String: String] = [:], forbidden: [String] = [],
        isOverTCP: Bool = false
    ) throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("dbus-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, command) in activatable {
            try "[D-BUS Service]\nName=\(name)\nExec=\(command)\n".write(
                to: directory.appendingPathComponent("\(name).service"), atomically: true, encoding: .utf8)
        }
        let configuration = directory.appendingPathComponent("bus.conf")
        let listening =
            isOverTCP
            ? "<listen>tcp:host=127.0.0.1,port=0</listen><auth>ANONYMOUS</auth><allow_anonymous/>"
            : "<listen>unix:path=\(directory.path)/socket</listen>"
        try Self.configuration(listening, directory: directory.path, limits: limits, forbidden: forbidden)
            .write(to: configuration, atomically: true, encoding: .utf8)
        let (input, lifeline) = try ChildProcess.pipe()
        let (reading, output) = try ChildProcess.pipe()
        process = try ChildProcess(
            "/bin/sh", ["-c", Self.script, "private-bus", configuration.path, directory.path], input: input,
            output: output)
        self.lifeline = Lock(lifeline)
        try input.close()
        try output.close()
        let line = String(decoding: reading.availableData, as: UTF8.self)
        let text = line.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw CocoaError(.fileReadUnknown) }
        address = .explicit(text)
    }

    /// The script; its standard output is only the daemon's, so that its end shows that the daemon does not start.
    private static let script = """
        dbus-daemon --nofork --nosyslog --print-address --config-file="$1" &
        exec >/dev/null
        read -r _
        kill -KILL $!
        exec rm -rf "$2"
        """

    deinit { kill() }

    /// Kills the daemon, as a crash would.
    public func kill() {
        do {
            try lifeline.withLock { lifeline in
                defer { lifeline = nil }
                try lifeline?.close()
            }
        } catch {
            print("a private bus stays until this process ends: \(error)")
            return
        }
        _ = process.wait()
    }

    private static func configuration(
        _ listening: String, directory: String, limits: [String: Int], forbidden: [String]
    ) -> String {
        let forbidden = forbidden.map { "<deny send_destination=\"\($0)\"/>" }
        let limits = limits.sorted { $0.key < $1.key }.map { "<limit name=\"\($0.key)\">\($0.value)</limit>" }
        return """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              \(listening)
              <servicedir>\(directory)</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
                \(forbidden.joined(separator: "\n    "))
              </policy>
              \(limits.joined(separator: "\n  "))
            </busconfig>
            """
    }
}

extension PrivateBus {
    /// Opens a connection of this process.
    ///
    /// A recorder, whose lock ThreadSanitizer knows, passes it on: ThreadSanitizer does not see that a continuation
    /// passes on a value if it is resumed before its task waits.
    public func connect(deadline: Duration = DBusConnection.openingDeadline) async throws -> DBusConnection {
        let opened = Recorder<Result<DBusConnection, DBusError>>()
        DBusConnection.open(address, queue: DispatchQueue(label: "test"), deadline: deadline) { opened.append($0) }
        return try await opened.wait { !$0.isEmpty }[0].get()
    }
}
#endif
