package import Foundation

/// A real mosquitto on 127.0.0.1, with its files in a separate folder.
///
/// Invariant of `@unchecked Sendable`: one task at a time starts and ends it.
package final class BrokerProcess: @unchecked Sendable {
    /// The path of the broker from Debian, which is in no user's `PATH`, or from a build from source; nil if it is not
    /// installed.
    package static let executable = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The port of the broker.
    package let port: UInt16
    private let folder: URL
    private var process: Process?

    /// Writes the settings: messages and sessions are stored on disk, and queues have no limit, so that the broker
    /// loses no acknowledged message.
    ///
    /// - Parameters:
    ///   - folder: An existing folder.
    ///   - access: The lines about access; by default every program of this machine may connect, in clear text.
    package init(folder: URL, access: String = "allow_anonymous true") throws {
        self.folder = folder
        port = try Self.freePort()
        var settings = """
            listener \(port) 127.0.0.1
            \(access)
            persistence true
            persistence_location \(folder.path)/
            autosave_interval 1
            max_queued_messages 0
            max_inflight_messages 0
            set_tcp_nodelay true

            """
        // A mosquitto that root starts would become another user, who cannot write to the folder.
        if getuid() == 0 { settings += "user root\n" }
        try Data(settings.utf8).write(to: folder.appending(path: "mosquitto.conf"))
    }

    deinit { kill() }

    /// Starts the broker, and returns when it accepts connections.
    package func start() throws {
        guard let executable = Self.executable else { throw POSIXError(.ENOENT) }
        let log = folder.appending(path: "mosquitto.log")
        if !FileManager.default.fileExists(atPath: log.path) { try Data().write(to: log) }
        let output = try FileHandle(forWritingTo: log)
        try output.seekToEnd()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = ["-c", folder.appending(path: "mosquitto.conf").path]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        self.process = process
        for _ in 0..<500 {
            if Self.accepts(port) { return }
            guard process.isRunning else { break }
            usleep(20_000)
        }
        throw POSIXError(.ECONNREFUSED)
    }

    /// Makes the broker write its sessions and messages to its file, and returns when it has.
    package func save() throws {
        guard let process else { throw POSIXError(.ESRCH) }
        let file = folder.appending(path: "mosquitto.db")
        if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
        Foundation.kill(process.processIdentifier, SIGUSR1)
        // The broker writes another file, which it finally renames.
        for _ in 0..<500 {
            if FileManager.default.fileExists(atPath: file.path) { return }
            usleep(20_000)
        }
        throw POSIXError(.ETIMEDOUT)
    }

    /// Ends the broker with SIGKILL.
    package func kill() { end(SIGKILL) }

    private func end(_ signal: Int32) {
        guard let process else { return }
        if process.isRunning { Foundation.kill(process.processIdentifier, signal) }
        process.waitUntilExit()
        self.process = nil
    }

    // MARK: Ports

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func call(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(port)
        return call(&address) { connect(descriptor, $0, $1) } == 0
    }

    /// Returns a port that was free a moment ago.
    package static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(0)
        guard call(&address, { bind(descriptor, $0, $1) }) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = call(&address) { pointer, _ in getsockname(descriptor, pointer, &length) }
        return UInt16(bigEndian: address.sin_port)
    }
}
