import BluetoothSupport
public import CoreBluetooth

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// An L2CAP channel: a stream of bytes in each direction, without packet boundaries.
///
/// One task reads and one task writes at a time; others wait for their turn. The channel closes with ``close()``
/// and with its last reference. A channel that a ``Peripheral`` opened retains that peripheral, and so its link.
public final class ByteChannel: Sendable {
    /// The channel's number.
    public let psm: CBL2CAPPSM
    /// The device on the other side.
    public let peer: UUID
    private let peerName: String?
    private let pump: StreamPump
    /// Waits until the link is known to have ended, and returns the reason; nil while the link exists, and if unknown.
    private let endOfLink: EndOfLink

    /// - Parameter isLost: Whether the channel is known to have ended with its link.
    typealias EndOfLink = @Sendable (_ isLost: Bool) async throws -> BluetoothError.Reason?

    init(
        _ channel: Unchecked<CBL2CAPChannel>, peerName: String? = nil,
        endOfLink: @escaping EndOfLink = { _ in nil }
    ) {
        psm = channel.value.psm
        peer = channel.value.peer.identifier
        self.peerName = peerName
        pump = StreamPump(channel)
        self.endOfLink = endOfLink
    }

    deinit { pump.close() }

    /// Reads the available bytes, up to `maximum`; nil after the other side has closed the channel.
    ///
    /// - Throws: `CancellationError`; ``BluetoothError`` after ``close()``, and when the link ended under a channel
    ///   that this side opened. For a channel that the other side opened, the end of the link looks like its closing.
    public func read(upTo maximum: Int = 4096) async throws -> Data? {
        try await BluetoothError.run(context) {
            if let bytes = try await pump.read(upTo: max(1, maximum)) { return bytes }
            if let reason = try await reasonForEnd() { throw OperationFailure(reason) }
            return nil
        }
    }

    /// Sends bytes; returns when the system has accepted the last of them.
    ///
    /// - Throws: ``BluetoothError`` when either side has closed the channel; `CancellationError`, after which a
    ///   part may have been sent.
    public func write(_ bytes: Data) async throws {
        try await BluetoothError.run(context) {
            do {
                try await pump.write(bytes)
            } catch let failure as OperationFailure {
                guard case .disconnected = failure.reason, let reason = try await reasonForEnd() else { throw failure }
                throw OperationFailure(reason)
            }
        }
    }

    /// The reason for the end of the link that the channel ended with; nil if the link exists.
    ///
    /// The streams end before the manager's queue receives the disconnection. This method waits for it, so that the
    /// caller's next operation finds no link and connects.
    private func reasonForEnd() async throws -> BluetoothError.Reason? {
        let isLost = pump.hasLostLink
        if let reason = try await endOfLink(isLost) { return reason }
        return isLost ? .disconnected(nil) : nil
    }

    /// The received bytes, in pieces as they arrive, until the end.
    public var bytes: ValueSequence<Data> {
        ValueSequence { ElementReader(pull: { try await self.read() }) }
    }

    /// Closes the channel; waiting calls end with ``BluetoothError/Reason/cancelled``.
    public func close() { pump.close() }

    private var context: BluetoothError.Context {
        BluetoothError.Context(.channel, peer: peer, peerName: peerName, path: "PSM \(psm)")
    }
}

/// The run loop that delivers the stream events of all channels.
///
/// Foundation's streams need one; tasks have none. One thread serves the process, and sleeps while nothing happens.
final class StreamLoop: Sendable {
    static let shared = StreamLoop()

    private let loop: Unchecked<RunLoop>

    private init() {
        let isStarted = DispatchSemaphore(value: 0)
        let current = Lock<Unchecked<RunLoop>?>(nil)
        let thread = Thread {
            let loop = Unchecked(RunLoop.current)
            // A loop without a source would end at once.
            loop.value.add(
                Timer(fire: .distantFuture, interval: .greatestFiniteMagnitude, repeats: true) { _ in },
                forMode: .default)
            current.withLock { $0 = loop }
            isStarted.signal()
            while true { _ = loop.value.run(mode: .default, before: .distantFuture) }
        }
        thread.name = "AsyncBluetooth streams"
        thread.start()
        isStarted.wait()
        guard let loop = current.withLock({ $0 }) else { preconditionFailure("the thread has a run loop") }
        self.loop = loop
    }

    func add(_ channel: CBL2CAPChannel) {
        #if canImport(Darwin)
        for stream in channel.streams { stream.schedule(in: loop.value, forMode: .default) }
        #else
        channel.schedule(inEndless: loop.value)
        #endif
    }

    func remove(_ channel: CBL2CAPChannel) {
        for stream in channel.streams { stream.remove(from: loop.value, forMode: .default) }
    }
}
