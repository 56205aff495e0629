#if os(Linux)
import BluetoothDBus
import Dispatch
import FoundationEssentials
import Glibc

/// Our end of a socket on which the daemon takes notifications for one central: a packet each.
///
/// What the daemon does not take at once waits here, for as many credits as it cost. What it sends are confirmations of
/// indications (one byte each, from BlueZ 5.80 on); its end is the end of the subscription. On the daemon's queue only.
// Invariant: everything is touched on `queue` only.
final class NotifySocket: @unchecked Sendable {
    private let queue: DispatchQueue
    private let descriptor: CInt
    private let reader: any DispatchSourceRead
    private let writer: any DispatchSourceWrite
    private let tell: @Sendable (SocketEvent) -> Void
    private var waiting: [Data] = []
    private var isWaiting = false
    private var isClosed = false

    /// A new socket pair.
    ///
    /// - Parameter tell: Hears on the queue of what happens, also inside a call.
    /// - Returns: The socket, and the daemon's end; nil where the process is out of descriptors.
    static func make(
        on queue: DispatchQueue, tell: @escaping @Sendable (SocketEvent) -> Void
    ) -> (socket: NotifySocket, daemonsEnd: DBusFileDescriptor)? {
        var ends: [CInt] = [-1, -1]
        let type = SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard socketpair(AF_UNIX, CInt(type), 0, &ends) == 0 else { return nil }
        return (NotifySocket(ends[0], on: queue, tell: tell), DBusFileDescriptor(adopting: ends[1]))
    }

    private init(_ descriptor: CInt, on queue: DispatchQueue, tell: @escaping @Sendable (SocketEvent) -> Void) {
        self.queue = queue
        self.descriptor = descriptor
        self.tell = tell
        reader = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        writer = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        reader.setEventHandler { [weak self] in self?.receive() }
        writer.setEventHandler { [weak self] in self?.flush() }
        // Both wait on the descriptor: it may close when both have let go.
        let group = DispatchGroup()
        group.enter()
        group.enter()
        reader.setCancelHandler { group.leave() }
        writer.setCancelHandler { group.leave() }
        group.notify(queue: queue) { Glibc.close(descriptor) }
        reader.activate()
    }

    deinit { close() }

    /// Sends a value; it must not be empty.
    ///
    /// BlueZ pitfall: an empty packet makes bluetoothd stop reading, as if it were the end.
    func send(_ value: Data) {
        guard !isClosed else { return }
        waiting.append(value)
        if !isWaiting { flush() }
    }

    /// Closes it; nothing is told any more.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        waiting = []
        reader.cancel()
        writer.cancel()
        // A source that was never resumed, or is suspended, would not run its cancel handler.
        if !isWaiting { writer.resume() }
    }

    private func flush() {
        var sent = 0
        while let value = waiting.first {
            let count = value.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EINTR { continue }
                // The reader will tell of a closed end.
                if errno != EAGAIN { waiting = [] }
                break
            }
            waiting.removeFirst()
            sent += 1
        }
        wait(!waiting.isEmpty)
        if sent > 0 { tell(.sent(sent)) }
    }

    private func wait(_ wanted: Bool) {
        guard wanted != isWaiting else { return }
        isWaiting = wanted
        if wanted { writer.resume() } else { writer.suspend() }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 64)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 || count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN && !isHungUp { return }
            if count == 0 && !isHungUp { return }
            break
        }
        close()
        tell(.closed)
    }

    /// A packet may be empty: only this is the end.
    private var isHungUp: Bool {
        var event = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&event, 1, 0) > 0 && event.revents & CShort(POLLHUP | POLLERR) != 0
    }
}
#endif
