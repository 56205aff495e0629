#if os(Linux)
import BluetoothDBus
import BluetoothSupport
import Dispatch
import Glibc

/// One end of a socket pair of `AcquireNotify` or `AcquireWrite`, on which each packet is a value.
///
/// On one queue.
// Invariant: used on its queue only.
final class PacketConnection: @unchecked Sendable {
    /// The number of bytes of a packet that `bluetoothd` reads; the rest is lost.
    private static let longestPacket = 512

    private var watch: SocketWatch?

    /// - Parameter receive: A closure that is called on the queue with each packet, and once with nil when the other
    ///   end is closed.
    /// - Throws: `LimitsExceeded` if this process has no descriptor left; the end is then closed.
    init(
        _ descriptor: DBusFileDescriptor, on queue: DispatchQueue, receive: @escaping @Sendable (Data?) -> Void
    ) throws(DBusError) {
        let watch = try SocketWatch(adopting: descriptor, queue: queue) { [weak self] in self?.read(receive) }
        self.watch = watch
        watch.isReading = true
    }

    private func read(_ receive: (Data?) -> Void) {
        var bytes = [UInt8](repeating: 0, count: Self.longestPacket)
        while let socket = watch?.socket {
            let count = recv(socket, &bytes, bytes.count, CInt(MSG_DONTWAIT))
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
        guard let socket = watch?.socket else { return }
        let bytes = Array(data)
        _ = Glibc.send(socket, bytes, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
    }

    func close() {
        watch?.cancel()
        watch = nil
    }
}
#endif
