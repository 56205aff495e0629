#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import DequeModule
import Dispatch
import FoundationEssentials

/// The bytes of one open L2CAP channel, over its socket.
///
/// A window limits the bytes that may be sent, and opens again as the kernel accepts bytes. A second window limits the
/// received bytes that are not consumed: while it is full nothing is read, and the kernel gives the peer no credits.
// Invariant: used on `queue` only.
final class ChannelSocket: @unchecked Sendable {
    /// The number of bytes that may wait to be sent.
    static let sendWindow = 65536
    /// The number of received bytes that may wait to be consumed.
    static let receiveWindow = 65536
    /// The number of times that a closing channel checks whether its last bytes were sent, each after `lingerStep`.
    private static let lingerSteps = 250
    private static let lingerStep = Duration.milliseconds(20)

    private let queue: DispatchQueue
    private let network: any ChannelNetwork
    private let handler: @Sendable (ChannelEvent) -> Void
    private let sendLimit: Int
    private let idleBacklog: CInt
    private var watch: SocketWatch?
    private var buffer = [UInt8](repeating: 0, count: Int(BluetoothSockets.receiveLimit))
    private var outgoing: Deque<Data> = []
    private var credits = sendWindow
    private var unconsumed = 0
    private var isClosing = false

    /// Takes over a connected socket; nothing is read before ``start()``.
    ///
    /// - Throws: `outOfSpace` if the process has no descriptor left; the socket is closed then.
    init(
        adopting socket: CInt, for operation: String, queue: DispatchQueue, network: any ChannelNetwork,
        handler: @escaping @Sendable (ChannelEvent) -> Void
    ) throws(BackendError) {
        self.queue = queue
        self.network = network
        self.handler = handler
        sendLimit = max(1, network.sendLimit(of: socket))
        idleBacklog = network.backlog(of: socket)
        watch = try SocketWatch(adopting: socket, for: operation, queue: queue) { [weak self] in
            self?.readAvailable()
        } writable: { [weak self] in
            self?.flush()
        }
    }

    func start() { watch?.isReading = true }

    // MARK: Sending

    /// Sends bytes if there are credits for all of them.
    ///
    /// - Returns: Whether there were enough credits; otherwise nothing is sent.
    func send(_ data: Data) -> Bool {
        guard !isClosing, watch != nil else { return true }
        guard data.count <= credits else { return false }
        credits -= data.count
        outgoing.append(data)
        if watch?.isWriting == false { flush() }
        return true
    }

    private func flush() {
        var sent = 0
        while let head = outgoing.popFirst(), let socket = watch?.socket {
            let packet = head.prefix(sendLimit)
            switch packet.withUnsafeBytes({ PacketSocket.write(socket, $0) }) {
            case .written:
                sent += packet.count
                if packet.count < head.count { outgoing.prepend(head.dropFirst(packet.count)) }
            case .full:
                outgoing.prepend(head)
                watch?.isWriting = true
                return grant(sent)
            case .broken:
                outgoing = []
                return readRest()
            }
        }
        watch?.isWriting = false
        grant(sent)
    }

    private func grant(_ count: Int) {
        guard count > 0, !isClosing else { return }
        credits += count
        handler(.credits(count))
    }

    // MARK: Receiving

    private func readAvailable() {
        while let socket = watch?.socket, !isClosing {
            guard unconsumed < Self.receiveWindow else {
                watch?.isReading = false
                return
            }
            switch buffer.withUnsafeMutableBytes({ PacketSocket.read(socket, into: $0) }) {
            case .packet(let count): received(count)
            case .nothing: return
            case .end: return finish()
            }
        }
    }

    private func received(_ count: Int) {
        guard count > 0 else { return }
        unconsumed += count
        handler(.received(Data(buffer[..<count])))
    }

    /// Reopens the receive window by bytes that were consumed.
    func consumed(_ count: Int) {
        unconsumed = max(0, unconsumed - max(0, count))
        guard watch?.isReading == false, !isClosing, unconsumed < Self.receiveWindow else { return }
        watch?.isReading = true
        // A peer that hung up meanwhile has triggered the readiness already, and it comes only once.
        readAvailable()
    }

    // MARK: The end

    /// Delivers the rest of the received data, regardless of the window, because the channel or its link is gone.
    func readRest() {
        while let socket = watch?.socket, !isClosing {
            guard case .packet(let count) = buffer.withUnsafeMutableBytes({ PacketSocket.read(socket, into: $0) })
            else {
                return finish()
            }
            received(count)
        }
    }

    private func finish() {
        guard watch != nil else { return }
        let wasClosing = isClosing
        abort()
        if !wasClosing { handler(.closed) }
    }

    /// Closes this end: nothing is reported from now on, but data that was sent before is still transmitted.
    func close() {
        guard !isClosing, watch != nil else { return }
        isClosing = true
        watch?.isReading = false
        linger(steps: Self.lingerSteps)
    }

    /// Waits for the last bytes to be sent, because closing an L2CAP socket discards them.
    private func linger(steps: Int) {
        guard let socket = watch?.socket else { return }
        guard steps > 0, !outgoing.isEmpty || network.backlog(of: socket) != idleBacklog else { return abort() }
        // Retains `self`, because the owner has released it.
        queue.asyncAfter(machineDeadline: .now() + Self.lingerStep.dispatchInterval) { self.linger(steps: steps - 1) }
    }

    /// Ends the channel immediately, without an event.
    func abort() {
        isClosing = true
        outgoing = []
        watch?.cancel()
        watch = nil
    }
}
#endif
