#if os(Linux)
import BluetoothSupport
import Glibc

/// A message bus for one emulated BlueZ and its clients: a `dbus-daemon` that this process starts and ends.
///
/// The bus listens on a socket in a new directory of mode 0700, and accepts only connections of the same user. Clients
/// connect to ``address``, which programs for BlueZ read from the environment variable `DBUS_SYSTEM_BUS_ADDRESS`.
///
/// The bus ends with ``stop()``, with the last reference, or with this process, even if the process is killed: a shell
/// in a separate session ends the daemon and removes the directory when this process closes the other end of the
/// shell's standard input. Any thread may call any method.
///
/// Source: `dbus-daemon(1)`; D-Bus Specification, "Server Addresses".
public final class PrivateMessageBus: Sendable {
    /// The time within which `dbus-daemon` must listen.
    private static let startDeadline: Duration = .seconds(10)

    /// The address of the bus, in the notation of the D-Bus Specification: `unix:path=…,guid=…`.
    public let address: String
    private let supervisor: Lock<Supervisor?>

    /// A shell that ends the daemon.
    private struct Supervisor {
        let process: SpawnedProcess
        /// The end of the socket pair whose closing ends the shell, which reads the other end.
        let lifeline: StreamPair.End
    }

    /// Starts a bus, and blocks until it listens, for 10 seconds at most.
    ///
    /// - Throws: ``PrivateMessageBusError``.
    public convenience init() throws(PrivateMessageBusError) {
        try self.init(directory: Self.variable("TMPDIR") ?? "/tmp")
    }

    /// Starts a bus whose directory is below `directory`.
    ///
    /// - Parameter searchPath: Directories, separated by colons, that may contain `dbus-daemon`.
    init(directory: String, searchPath: String = PrivateMessageBus.searchPath) throws(PrivateMessageBusError) {
        guard let daemon = Self.daemon(in: searchPath) else { throw .notInstalled }
        let own = try BusDirectory(below: directory)
        do {
            let (address, supervisor) = try Self.start(daemon, own)
            self.address = address
            self.supervisor = Lock(supervisor)
        } catch let error as PrivateMessageBusError {
            own.remove()
            throw error
        } catch {
            own.remove()
            throw .notStarted("\(error)")
        }
    }

    deinit { stop() }

    /// Ends the bus and removes its directory; its clients are disconnected.
    ///
    /// Later calls do nothing.
    public func stop() {
        guard let last = supervisor.withLock({ $0.take() }) else { return }
        last.lifeline.close()
        _ = last.process.wait()
    }

    /// Whether `dbus-daemon` is installed in a directory of `PATH`.
    public static var isInstalled: Bool { daemon(in: searchPath) != nil }

    // MARK: Start

    /// The shell script whose arguments are the program of the daemon and the directory of the bus.
    ///
    /// The errors of the daemon appear on standard output until it listens; after that, they are not read.
    private static let script = """
        trap '' PIPE
        "$1" --nofork --nosyslog --print-address --config-file="$2/\(BusDirectory.configurationName)" 2>&1 &
        exec >/dev/null 2>&1
        read -r _
        kill -KILL $!
        wait $!
        exec rm -rf "$2"
        """

    private static func start(
        _ daemon: String, _ directory: BusDirectory
    ) throws -> (String, Supervisor) {
        try directory.writeConfiguration()
        let (input, lifeline) = try StreamPair.make()
        let (reading, output) = try StreamPair.make()
        let process = try SpawnedProcess(
            "/bin/sh", ["-c", script, "private-message-bus", daemon, directory.path],
            environment: ["PATH": searchPath], streams: [input.descriptor, output.descriptor, nil], isDetached: true)
        input.close()
        output.close()
        do {
            let address = try address(from: reading)
            return (address, Supervisor(process: process, lifeline: lifeline))
        } catch {
            lifeline.close()
            _ = process.wait()
            throw error
        }
    }

    /// The address: the first line that is not an error message.
    private static func address(from reading: StreamPair.End) throws(PrivateMessageBusError) -> String {
        var output = ""
        let limit = ContinuousClock.now + startDeadline
        while true {
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if let line = lines.first(where: { $0.hasPrefix("unix:") }) { return String(line) }
            guard let bytes = reading.read(until: limit) else {
                throw .notStarted("it does not listen after \(startDeadline.components.seconds) s")
            }
            guard !bytes.isEmpty else {
                let error = output.split(separator: "\n").last.map { String($0) }
                throw .notStarted(error ?? "it ended without a message")
            }
            output += String(decoding: bytes, as: UTF8.self)
        }
    }

    // MARK: Environment

    static var searchPath: String { variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin" }

    private static func daemon(in searchPath: String) -> String? {
        searchPath.split(separator: ":").map { "\($0)/dbus-daemon" }.first { access($0, X_OK) == 0 }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The reason why a private bus cannot start.
public enum PrivateMessageBusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program `dbus-daemon` is not installed.
    case notInstalled
    /// The directory of the socket cannot be created.
    case noDirectory(String)
    /// `dbus-daemon` does not start; the value is its message.
    case notStarted(String)

    /// The reason in one line.
    public var description: String {
        switch self {
        case .notInstalled:
            "dbus-daemon is not installed: apt install dbus-daemon (in older releases, the package is dbus)"
        case .noDirectory(let error): "the socket of a message bus has no directory: \(error)"
        case .notStarted(let error): "dbus-daemon does not start: \(error)"
        }
    }
}
#endif
