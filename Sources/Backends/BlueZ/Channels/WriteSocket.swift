#if os(Linux)
import BluetoothDBus
import BluetoothSupport
import DequeModule
import Dispatch
import FoundationEssentials
import Glibc

/// A socket on which the daemon reads values of one characteristic, one per packet: write commands, or notifications
/// for one central.
///
/// Values that the daemon does not read at once wait in a queue, which the credits of their senders bound. The daemon
/// sends only confirmations of indications, one byte each, from BlueZ 5.80 on.
// Invariant: used on `queue` only.
final class WriteSocket: @unchecked Sendable {
    /// An event of the socket.
    enum Event: Equatable, Sendable {
        /// This number of packets was handed over since the last report.
        case sent(Int)
        /// The daemon has read all of them.
        case drained
        /// The daemon closed its end: packets that were not reported as sent are lost.
        case closed
    }

    /// An action on the socket.
    enum Action: Equatable, Sendable {
        /// Takes over a socket, which is open from now on.
        case adopt(CInt)
        case write(Data)
        /// Requests the event `drained` when the daemon has read everything.
        case drain
        case close
    }

    /// The delay of the first check whether the daemon has read everything; each further check doubles it.
    private static let drainStep = Duration.milliseconds(1)
    private static let drainStepLimit = Duration.milliseconds(64)
    /// The number of packets of a burst that one report covers; each report is an event for the app.
    static let reportSize = CentralLink.writeCredits / 2

    private let queue: DispatchQueue
    private let reportSize: Int
    /// The delay after which the last packets of a burst are reported: an app may wait for them before it sends more
    /// (S86).
    private let reportDelay: Duration
    private let handler: @Sendable (Event) -> Void
    private var watch: SocketWatch?
    private var outgoing: Deque<Data> = []
    /// The number of packets that were handed over since the last report.
    private var unreported = 0
    private var isReportDue = false

    /// - Parameters:
    ///   - reportSize: The number of packets of a burst that one report covers.
    ///   - reportDelay: The delay after which the last packets of a burst are reported.
    ///   - handler: Called on the queue with each event, also inside a call.
    /// - Throws: `LimitsExceeded` if the process has no descriptor left; the socket is closed then.
    init(
        adopting socket: DBusFileDescriptor, queue: DispatchQueue, reportSize: Int = reportSize,
        reportDelay: Duration = .milliseconds(2), handler: @escaping @Sendable (Event) -> Void
    ) throws(DBusError) {
        self.queue = queue
        self.reportSize = reportSize
        self.reportDelay = reportDelay
        self.handler = handler
        let watch = try SocketWatch(adopting: socket, queue: queue) { [weak self] in
            self?.checkDrained()
        } writable: { [weak self] in
            self?.flush()
        }
        self.watch = watch
        watch.isReading = true
    }

    /// Returns a new socket that reports each packet at once, and the daemon's end; nil if the process is out of
    /// descriptors.
    static func pair(
        on queue: DispatchQueue, handler: @escaping @Sendable (Event) -> Void
    ) -> (socket: WriteSocket, daemonsEnd: DBusFileDescriptor)? {
        do throws(DBusError) {
            let (own, daemonsEnd) = try DBusFileDescriptor.packetSockets()
            return (try WriteSocket(adopting: own, queue: queue, reportSize: 1, handler: handler), daemonsEnd)
        } catch {
            return nil
        }
    }

    /// Sends a packet, which must not be empty.
    ///
    /// BlueZ pitfall: bluetoothd takes an empty packet for the end, and stops reading.
    func send(_ value: Data) {
        guard watch != nil else { return }
        outgoing.append(value)
        if watch?.isWriting == false { flush() }
    }

    private func flush() {
        var isFull = false
        while !isFull, let socket = watch?.socket, let value = outgoing.first {
            switch value.withUnsafeBytes({ PacketSocket.write(socket, $0) }) {
            case .written:
                outgoing.removeFirst()
                unreported += 1
            case .full: isFull = true
            case .broken: return end()
            }
        }
        watch?.isWriting = isFull
        if unreported >= reportSize { report() } else if unreported > 0 { reportLater() }
    }

    private func reportLater() {
        guard !isReportDue else { return }
        isReportDue = true
        queue.asyncAfter(machineDeadline: .now() + reportDelay.dispatchInterval) { [weak self] in
            self?.isReportDue = false
            self?.report()
        }
    }

    private func report() {
        guard unreported > 0 else { return }
        let count = unreported
        unreported = 0
        handler(.sent(count))
    }

    /// Skips confirmations, up to the end.
    private func checkDrained() {
        var byte: UInt8 = 0
        while let socket = watch?.socket {
            switch withUnsafeMutableBytes(of: &byte, { PacketSocket.read(socket, into: $0) }) {
            case .packet: continue
            case .nothing: return
            case .end: return end()
            }
        }
    }

    private func end() {
        stopWatching()
        report()
        handler(.closed)
    }

    /// Reports when the daemon has read everything that was sent, unless the socket closes before.
    func drain() { drain(step: Self.drainStep) }

    private func drain(step: Duration) {
        guard let socket = watch?.socket else { return }
        var unread: CInt = 0
        // For a Unix socket, this is the amount that the other side has not read.
        let isKnown = ioctl(socket, UInt(TIOCOUTQ), &unread) == 0
        if outgoing.isEmpty, !isKnown || unread == 0 {
            report()
            return handler(.drained)
        }
        queue.asyncAfter(machineDeadline: .now() + step.dispatchInterval) { [weak self] in
            self?.drain(step: min(step * 2, Self.drainStepLimit))
        }
    }

    /// Closes the socket; no event follows.
    func close() {
        stopWatching()
        unreported = 0
    }

    private func stopWatching() {
        outgoing = []
        watch?.cancel()
        watch = nil
    }
}
#endif
