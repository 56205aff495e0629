import Foundation

/// The socket on which systemd receives notifications of a service.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32
    private let states: AsyncStream<String>

    init(_ path: String) throws {
        self.path = path
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        self.descriptor = descriptor
        let (states, sink) = AsyncStream<String>.makeStream()
        self.states = states
        // The thread reads as fast as systemd does: a service does not wait for it.
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 256)
            while case let count = recv(descriptor, &bytes, bytes.count, 0), count > 0 {
                sink.yield(String(decoding: bytes.prefix(count), as: UTF8.self))
            }
            sink.finish()
            close(descriptor)
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Waits for a state, after the states of earlier calls.
    ///
    /// - Throws: `CancellationError` at the time limit of the test.
    func first(_ wanted: String) async throws {
        for await state in states where state == wanted { return }
        throw CancellationError()
    }
}
