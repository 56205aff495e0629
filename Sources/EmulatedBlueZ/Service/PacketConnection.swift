#if os(Linux)
import BluetoothDBus
import BluetoothSupport
import Dispatch
import Glibc

/// One end of a pair of sockets on which each packet is a value: of `AcquireNotify` and `AcquireWrite`.
///
/// On one queue.
// Invariant: used on its queue only.
final class PacketConnection: @unchecked Sendable {
    /// As much of a packet as `bluetoothd` reads; the rest is lost.
    private static let longestPacket = 512

    private let descriptor: DBusFileDescriptor
    private let source: any DispatchSourceRead
    private var isClosed = false

    /// Two connected ends.
    ///
    /// - Throws: `LimitsExceeded` if this process has no descriptors left.
    static func pair() throws(DBusError) -> (DBusFileDescriptor, DBusFileDescriptor) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .exhausted("descriptors") }
        return (DBusFileDescriptor(adopting: ends[0]), DBusFileDescriptor(adopting: ends[1]))
    }

    /// - Parameter receive: Is called on the queue with each packet, and once with nil when the other end is closed.
    init(_ descriptor: DBusFileDescriptor, on queue: DispatchQueue, receive: @escaping @Sendable (Data?) -> Void) {
        self.descriptor = descriptor
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor.rawValue, queue: queue)
        source.setEventHandler { [weak self] in self?.read(receive) }
        // The descriptor outlives the source, which uses it.
        source.setCancelHandler { [descriptor] in withExtendedLifetime(descriptor) {} }
        source.activate()
    }

    deinit { source.cancel() }

    private func read(_ receive: (Data?) -> Void) {
        var bytes = [UInt8](repeating: 0, count: Self.longestPacket)
        while !isClosed {
            let count = recv(descriptor.rawValue, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else {
                close()
                return receive(nil)
            }
            receive(Data(bytes[..<count]))
        }
    }

    /// Sends a packet; a reader that is too slow loses it.
    func send(_ data: Data) {
        guard !isClosed else { return }
        let bytes = Array(data)
        _ = Glibc.send(descriptor.rawValue, bytes, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
    }

    func close() {
        isClosed = true
        source.cancel()
    }
}
#endif
