#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch

/// The L2CAP channels of one role on one adapter: those that it opens, and those that peers open.
///
/// All calls and callbacks run on the daemon's queue.
// Invariant: used on `queue` only.
final class ChannelPool: @unchecked Sendable {
    /// An opened channel.
    struct Opening: Equatable, Sendable {
        let channel: ChannelID
        /// The number of bytes that may be sent initially.
        let credits: Int
    }

    /// An action of a manager on its channel.
    enum Action: Equatable, Sendable {
        /// A command of the manager; a close waits until all data is sent.
        case command(ChannelCommand)
        /// Delivers the received data and the close, because the link is gone.
        case readRest
        /// Ends the channel immediately.
        case abort
    }

    /// A socket that peers connect to.
    private struct Listener {
        let watch: SocketWatch
        let accepted: @Sendable (Opening, _ peer: L2CAPAddress) -> Void
        /// The number of failed accepts since the last success.
        var failures = 0
    }

    /// Deadlines and pauses.
    struct Timings: Sendable {
        /// The deadline for opening a channel; the kernel itself gives up after 40 s.
        var connect = Duration.seconds(60)
        /// The pause after the first failed accept; doubles up to `acceptPauseLimit`.
        var acceptPause = Duration.milliseconds(100)
        var acceptPauseLimit = Duration.seconds(5)
    }

    private static let opening = "open channel"

    private let queue: DispatchQueue
    private let network: any ChannelNetwork
    private let timings: Timings
    private let handler: @Sendable (ChannelID, ChannelEvent) -> Void
    private var channels: [ChannelID: ChannelSocket] = [:]
    private var connecting: [ChannelID: SocketWatch] = [:]
    private var listeners: [UInt16: Listener] = [:]
    private var last = ChannelID(rawValue: 0)

    /// - Parameters:
    ///   - queue: The queue of all calls and callbacks.
    ///   - network: The source of sockets.
    ///   - handler: Called with the events of open channels; inside a call only for ``Action/readRest``.
    init(
        queue: DispatchQueue, network: any ChannelNetwork = BluetoothSockets(), timings: Timings = Timings(),
        handler: @escaping @Sendable (ChannelID, ChannelEvent) -> Void
    ) {
        self.queue = queue
        self.network = network
        self.timings = timings
        self.handler = handler
    }

    // MARK: Opening

    /// Opens a channel; its events follow `completion`, which is never called inline.
    func connect(
        from local: L2CAPAddress, to peer: L2CAPAddress,
        completion: @escaping @Sendable (Result<Opening, BackendError>) -> Void
    ) {
        do throws(BackendError) {
            let socket = try network.connect(from: local, to: peer)
            last = last.next
            let id = last
            let watch = try SocketWatch(adopting: socket, for: Self.opening, queue: queue) {
            } writable: { [weak self] in
                self?.connected(id, completion)
            }
            connecting[id] = watch
            watch.isWriting = true
            queue.asyncAfter(machineDeadline: .now() + timings.connect.dispatchInterval) { [weak self] in
                self?.connectTimedOut(id, completion)
            }
        } catch {
            queue.async { completion(.failure(error)) }
        }
    }

    private func connected(_ id: ChannelID, _ completion: (Result<Opening, BackendError>) -> Void) {
        guard let watch = connecting.removeValue(forKey: id) else { return }
        defer { watch.cancel() }
        if let error = network.failure(of: watch.socket) { return completion(.failure(error)) }
        // The watch closes its own descriptor later.
        let socket = watch.duplicate()
        guard socket >= 0 else {
            return completion(.failure(BackendError(.outOfSpace, operation: Self.opening)))
        }
        do throws(BackendError) {
            try adopt(socket, as: id) { completion(.success($0)) }
        } catch {
            completion(.failure(error))
        }
    }

    private func connectTimedOut(_ id: ChannelID, _ completion: (Result<Opening, BackendError>) -> Void) {
        guard let watch = connecting.removeValue(forKey: id) else { return }
        watch.cancel()
        completion(.failure(BackendError(.connectionTimeout, operation: Self.opening)))
    }

    private func adopt(_ socket: CInt, as id: ChannelID, _ report: (Opening) -> Void) throws(BackendError) {
        let channel = try ChannelSocket(
            adopting: socket, for: Self.opening, queue: queue, network: network
        ) { [weak self] event in
            self?.handle(event, on: id)
        }
        channels[id] = channel
        report(Opening(channel: id, credits: ChannelSocket.sendWindow))
        // The report may have closed the channel.
        if channels[id] === channel { channel.start() }
    }

    private func handle(_ event: ChannelEvent, on id: ChannelID) {
        if event == .closed { channels[id] = nil }
        handler(id, event)
    }

    // MARK: Listening

    /// Listens for channels.
    ///
    /// - Parameters:
    ///   - local: The adapter's address.
    ///   - isEncryptionRequired: Whether to refuse links that are not encrypted.
    ///   - accepted: Called with each channel and its peer; the channel's events follow its return.
    /// - Returns: The PSM that the kernel chose, 0x80...0xFF.
    func listen(
        at local: L2CAPAddress, isEncryptionRequired: Bool,
        accepted: @escaping @Sendable (Opening, _ peer: L2CAPAddress) -> Void
    ) throws(BackendError) -> UInt16 {
        let (socket, psm) = try network.listen(at: local, isEncryptionRequired: isEncryptionRequired)
        let watch = try SocketWatch(adopting: socket, for: Self.opening, queue: queue) { [weak self] in
            self?.acceptWaiting(psm)
        }
        listeners[psm] = Listener(watch: watch, accepted: accepted)
        watch.isReading = true
        return psm
    }

    private func acceptWaiting(_ psm: UInt16) {
        do throws(BackendError) {
            while let listener = listeners[psm], let (socket, peer) = try network.accept(listener.watch.socket) {
                listeners[psm]?.failures = 0
                last = last.next
                try adopt(socket, as: last) { listener.accepted($0, peer) }
            }
        } catch {
            pauseAccepting(psm, error)
        }
    }

    /// Stops accepting for a while: the socket stays readable while a peer waits, so without a free descriptor the
    /// process would try again without end and keep the queue busy.
    private func pauseAccepting(_ psm: UInt16, _ error: BackendError) {
        guard let listener = listeners[psm] else { return }
        if listener.failures == 0 { BlueZLog.warning("a peer's channel cannot be taken: \(error)") }
        listeners[psm]?.failures += 1
        listener.watch.isReading = false
        let pause = min(timings.acceptPause * (1 << min(listener.failures, 10)), timings.acceptPauseLimit)
        queue.asyncAfter(machineDeadline: .now() + pause.dispatchInterval) { [weak self, watch = listener.watch] in
            // Another listener may use that PSM now.
            guard let self, listeners[psm]?.watch === watch else { return }
            watch.isReading = true
            acceptWaiting(psm)
        }
    }

    /// Stops listening; open channels stay open.
    ///
    /// - Returns: Whether this pool listened on that PSM.
    func stopListening(_ psm: UInt16) -> Bool {
        guard let listener = listeners.removeValue(forKey: psm) else { return false }
        listener.watch.cancel()
        return true
    }

    // MARK: Use

    /// Performs an action of the channel's owner; does nothing if the channel is closed.
    func perform(_ action: Action, on id: ChannelID) {
        guard let channel = channels[id] else { return }
        switch action {
        case .command(.send(let data)):
            if !channel.send(data) {
                BlueZLog.warning("\(data.count) bytes without credit on channel \(id) dropped")
            }
        case .command(.consumed(let count)): channel.consumed(count)
        case .command(.close):
            channels[id] = nil
            channel.close()
        case .readRest: channel.readRest()
        case .abort:
            channels[id] = nil
            channel.abort()
        }
    }
}
#endif
