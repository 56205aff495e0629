#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch
import Glibc
import ScriptedBlueZ
import Synchronization

@testable import BlueZ

/// A fake controller, at the other end of a socket pair.
final class FakeController: ControllerAccess {
    private let sockets = Lock<[CInt]>([])
    private let error: BackendError?
    let handle: UInt16

    init(handle: UInt16 = 0x0040, error: BackendError? = nil) {
        self.handle = handle
        self.error = error
    }

    deinit {
        for socket in sockets.withLock({ $0 }) { close(socket) }
    }

    var isAvailable: Bool { error == nil }

    func open(_ controller: ControllerID) throws(BackendError) -> CInt {
        if let error { throw error }
        var pair: [CInt] = [-1, -1]
        let type = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard socketpair(AF_UNIX, CInt(type), 0, &pair) == 0 else {
            throw BackendError(.outOfSpace, operation: "socketpair")
        }
        sockets.withLock { $0.append(pair[1]) }
        return pair[0]
    }

    func handle(of peer: L2CAPAddress, on socket: CInt) throws(BackendError) -> UInt16 { handle }

    /// Returns the latest command, which was sent before `read` returned.
    func question() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(sockets.withLock { $0.last ?? -1 }, &buffer, buffer.count)
        return Array(buffer[..<max(0, count)])
    }

    /// Waits for the end of the latest socket, and checks that nothing is left to read.
    func isClosed(on queue: DispatchQueue) async throws -> Bool {
        let socket = sockets.withLock { $0.last ?? -1 }
        let counts = Recorder<Int>()
        // A separate descriptor of the socket, which the watch closes.
        let copy = DBusFileDescriptor(adopting: fcntl(socket, F_DUPFD_CLOEXEC, 0))
        let watch = try queue.sync {
            let watch = try SocketWatch(adopting: copy, queue: queue) {
                var byte: UInt8 = 0
                counts.append(Glibc.read(socket, &byte, 1))
            }
            watch.isReading = true
            return watch
        }
        defer { queue.sync { watch.cancel() } }
        return try await counts.first { _ in true } == 0
    }

    func send(_ packet: [UInt8]) {
        _ = write(sockets.withLock { $0.last ?? -1 }, packet, packet.count)
    }

    func vanish() {
        sockets.withLock { _ = close($0.removeLast()) }
    }
}
#endif
