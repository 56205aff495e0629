#if os(Linux)
import BluetoothDBus
import BluetoothSupport
import DequeModule
import Dispatch
import FoundationEssentials
import Glibc

/// A socket on which the daemon takes values of one characteristic, a packet each: write commands, or notifications for
/// one central.
///
/// Values that the daemon does not take at once wait in a queue, which the credits of their senders bound. The daemon
/// sends nothing but confirmations of indications, one byte each, from BlueZ 5.80 on.
// Invariant: used on `queue` only.
final class WriteSocket: @unchecked Sendable {
    /// What happens to it.
    enum Event: Equatable, Sendable {
        /// So many packets were handed over; several are reported together.
        case sent(Int)
        /// The daemon has read all of them.
        case drained
        /// The daemon closed its end: what was not reported as sent never will be.
        case closed
    }

    /// What is done with it.
    enum Action: Equatable, Sendable {
        /// It is taken over, and open from now on.
        case adopt(CInt)
        case write(Data)
        /// Says when the daemon has read everything.
        case drain
        case close
    }

    /// When to look first whether the daemon has read everything; each look after that comes twice as late.
    private static let drainStep = Duration.milliseconds(1)
    private static let drainStepLimit = Duration.milliseconds(64)
    /// How many packets of a burst are reported together, as each report is an event of its own for the app.
    static let reportSize = LinkState.writeCredits / 2

    private let queue: DispatchQueue
    private let reportSize: Int
    /// When the last packets of a burst are reported: an app may wait for them before it sends the next one (S86).
    private let reportDelay: Duration
    private let handler: @Sendable (Event) -> Void
    private var watch: SocketWatch?
    private var outgoing: Deque<Data> = []
    /// How many packets were handed over since the last report.
    private var unreported = 0
    private var isReportDue = false

    /// - Parameters:
    ///   - reportSize: How many packets of a burst are reported together.
    ///   - reportDelay: When the last packets of a burst are reported.
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
            self?.look()
        } writable: { [weak self] in
            self?.flush()
        }
        self.watch = watch
        watch.isReading = true
    }

    /// A new socket whose packets are reported at once, and the daemon's end; nil where the process is out of descriptors.
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

    /// Sends a packet; it must not be empty.
    ///
    /// BlueZ pitfall: an empty packet makes bluetoothd stop reading, as if it were the end.
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
        queue.asyncAfter(deadline: .now() + reportDelay.dispatchInterval) { [weak self] in
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
    private func look() {
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

    /// Reports when the daemon has read all that was sent; never, if the socket closes before.
    func drain() { drain(step: Self.drainStep) }

    private func drain(step: Duration) {
        guard let socket = watch?.socket else { return }
        var unread: CInt = 0
        // Of a Unix socket this is what the other side has not read.
        let isKnown = ioctl(socket, UInt(TIOCOUTQ), &unread) == 0
        if outgoing.isEmpty, !isKnown || unread == 0 {
            report()
            return handler(.drained)
        }
        queue.asyncAfter(deadline: .now() + step.dispatchInterval) { [weak self] in
            self?.drain(step: min(step * 2, Self.drainStepLimit))
        }
    }

    /// Closes it; nothing is reported any more.
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
