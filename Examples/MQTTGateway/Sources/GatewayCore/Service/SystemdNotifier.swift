import Foundation
package import Logging

/// A notifier that reports to systemd that the service has started, works and stops, as `sd_notify` does.
///
/// Source: sd_notify(3): a datagram to the socket that `NOTIFY_SOCKET` names. Without the variable nothing is sent. A
/// socket that accepts no more causes a warning, and no wait.
package struct SystemdNotifier: Sendable {
    private let socket: String?
    /// The interval in which systemd expects a notification; nil without a watchdog.
    package let watchdogInterval: Duration?
    private let logger: Logger

    package init(environment: [String: String], logger: Logger) {
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isOwn = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdogInterval = isOwn && microseconds > 0 ? .microseconds(microseconds) : nil
        self.logger = logger
    }

    /// Sends a state, such as `READY=1`.
    package func notify(_ state: String) {
        guard let socket else { return }
        do {
            try send(state, to: socket)
        } catch {
            logger.warning("systemd cannot be notified", metadata: ["state": "\(state)", "error": "\(error)"])
        }
    }

    private func send(_ state: String, to path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        // The name of an abstract socket begins with a zero.
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw POSIXError(.ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, state, state.utf8.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0, length)
            }
        }
        guard sent >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}
