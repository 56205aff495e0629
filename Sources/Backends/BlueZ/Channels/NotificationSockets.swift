#if os(Linux)
import BluetoothDBus
import BluetoothSupport
import Dispatch
import FoundationEssentials
import Glibc

/// The sockets on which the daemon passes on notifications, one socket per characteristic and one packet per value.
///
/// One thread waits for all of them and reads them on the queue; see `SocketPoller`. The values of one read are one
/// event, so that a burst wakes the app once.
// Invariant: used on `queue` only, and by `deinit`, when no other code can.
final class NotificationSockets: @unchecked Sendable {
    /// An event of a socket.
    enum Event: Equatable, Sendable {
        /// Values arrived, in this order.
        case values([Data])
        /// The socket is closed, and all its values were read.
        case closed
    }

    /// An action on a socket.
    enum Action: Equatable, Sendable {
        /// Takes over a socket, which is open from now on.
        case adopt(CInt)
        /// Reads the remaining values and closes the socket; the event `closed` follows immediately.
        case finish
        /// Closes the socket; no event follows.
        case close
    }

    /// Handles an event, on the queue.
    typealias Handler = @Sendable (LinkSocketID, Event) -> Void

    /// The largest number of values that are read from one socket before the others are read.
    static let valuesPerTurn = 64
    /// The number of reads of a socket that is to be closed: enough to empty its buffer.
    private static let turnsToFinish = 8
    /// The longest attribute value (Core Specification, Vol 3, Part F, 3.2.9).
    private static let longestValue = 512

    private let daemon: BlueZDaemon
    private let handler: Handler
    private var sockets: [LinkSocketID: DBusFileDescriptor] = [:]
    private var readiness: (epoll: Epoll, poller: SocketPoller)?

    /// - Parameter handler: Called on the queue with each event, also inside a call.
    init(daemon: BlueZDaemon, handler: @escaping Handler) {
        self.daemon = daemon
        self.handler = handler
    }

    deinit { readiness?.poller.stop() }

    /// Performs an action on a socket.
    func perform(_ action: Action, on id: LinkSocketID) {
        switch action {
        case .adopt(let socket): adopt(DBusFileDescriptor(adopting: socket), id)
        case .finish:
            var turns = 1
            while turns < Self.turnsToFinish, read(id) { turns += 1 }
            if sockets[id] != nil { end(id) }
        case .close: remove(id)
        }
    }

    private func adopt(_ socket: DBusFileDescriptor, _ id: LinkSocketID) {
        do throws(DBusError) {
            try epoll().add(socket.rawValue)
            sockets[id] = socket
        } catch {
            BlueZLog.warning("a socket for notifications cannot be read, and is closed: \(error)")
            handler(id, .closed)
        }
    }

    private func epoll() throws(DBusError) -> Epoll {
        if let readiness { return readiness.epoll }
        let epoll = try Epoll()
        let poller = try SocketPoller(socket: epoll.descriptor.rawValue, queue: daemon.queue) {
            [weak self] _, allowsInline in
            self?.ready(allowsInline)
        }
        poller.wait(for: .readable)
        readiness = (epoll, poller)
        return epoll
    }

    private func ready(_ allowsInline: Bool) -> InlineWork? {
        daemon.processBatch(allowsInline) { for id in readableSockets { _ = read(id) } }
    }

    private var readableSockets: [LinkSocketID] {
        let all = Array(sockets)
        guard all.count > 1 else { return all.map(\.key) }
        var states = all.map { pollfd(fd: $0.value.rawValue, events: Int16(POLLIN), revents: 0) }
        guard poll(&states, nfds_t(states.count), 0) > 0 else { return [] }
        return zip(all, states).compactMap { $1.revents == 0 ? nil : $0.key }
    }

    /// Reads the values that have arrived, up to the limit of one read.
    ///
    /// - Returns: Whether more values may wait.
    private func read(_ id: LinkSocketID) -> Bool {
        guard let socket = sockets[id] else { return false }
        var values: [Data] = []
        var isAtEnd = false
        var isEmpty = false
        withUnsafeTemporaryAllocation(byteCount: Self.longestValue, alignment: 1) { buffer in
            while !isEmpty, !isAtEnd, values.count < Self.valuesPerTurn {
                switch PacketSocket.read(socket.rawValue, into: buffer, endsInSilence: false) {
                case .packet(let count):
                    values.append(buffer.baseAddress.map { Data(bytes: $0, count: count) } ?? Data())
                case .nothing: isEmpty = true
                case .end: isAtEnd = true
                }
            }
        }
        if !values.isEmpty { handler(id, .values(values)) }
        if isAtEnd { end(id) }
        return !isEmpty && !isAtEnd
    }

    private func end(_ id: LinkSocketID) {
        remove(id)
        handler(id, .closed)
    }

    private func remove(_ id: LinkSocketID) {
        if let socket = sockets.removeValue(forKey: id) { readiness?.epoll.remove(socket.rawValue) }
    }
}
#endif
