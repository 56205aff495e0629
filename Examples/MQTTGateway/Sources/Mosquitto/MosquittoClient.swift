import CMosquitto
import Dispatch
import Foundation
import Synchronization

/// A connection to a broker, which is restored until ``stop()``.
///
/// libmosquitto keeps the unacknowledged messages of QoS 1, and sends them again on the next connection of this object.
/// Any thread may call any member.
///
/// Invariant of `@unchecked Sendable`: `mosquitto` is set once and freed in `deinit`. libmosquitto locks its state, as
/// `mosquitto_threaded_set` requests. Callbacks run on the thread of ``MosquittoClient/runLoop()``, and access only the
/// continuations and the mutex.
package final class MosquittoClient: @unchecked Sendable {
    /// Connections and acknowledgements, in order; at most as many acknowledgements as messages were published.
    package let events: AsyncStream<MQTTEvent>
    /// Messages of the subscribed topics; the settings limit the number that wait, further ones are dropped and
    /// counted.
    package let messages: AsyncStream<MQTTMessage>
    /// The longest payload that is accepted from the broker, in bytes.
    package static let payloadLimit = 65_536

    private struct State {
        var isStarted = false
        var isStopping = false
        /// The time at which the broker accepted the present connection.
        var accepted: ContinuousClock.Instant?
        /// The reason that the broker refused the present connection.
        var refusal: MosquittoError?
        /// The packets that the broker has acknowledged in the present call of `mosquitto_loop`.
        var acknowledged: [Int32] = []
        var dropped = 0
        var loops = 0
    }

    private let mosquitto: OpaquePointer
    private let settings: BrokerSettings
    private let pause: (@Sendable (ClosedRange<Duration>) -> Void)?
    private let eventSink: AsyncStream<MQTTEvent>.Continuation
    private let messageSink: AsyncStream<MQTTMessage>.Continuation
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// The initialization of libmosquitto, once for the process.
    private static let library: Void = { _ = mosquitto_lib_init() }()

    /// Creates a client, which connects with ``start()``.
    ///
    /// - Parameter pause: Waits between two attempts to connect, for a time in the range; nil for a random one.
    /// - Throws: ``MosquittoError`` for settings that libmosquitto refuses, such as a missing file of certificates.
    package init(_ settings: BrokerSettings, pause: (@Sendable (ClosedRange<Duration>) -> Void)? = nil) throws {
        _ = Self.library
        guard let mosquitto = mosquitto_new(settings.clientID, settings.cleanSession, nil) else {
            throw MosquittoError("the client identifier \"\(settings.clientID)\" is refused")
        }
        self.mosquitto = mosquitto
        self.settings = settings
        self.pause = pause
        (events, eventSink) = AsyncStream.makeStream()
        (messages, messageSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(settings.messageLimit))
        mosquitto_user_data_set(mosquitto, Unmanaged.passUnretained(self).toOpaque())
        try configure()
        setCallbacks()
    }

    deinit { mosquitto_destroy(mosquitto) }

    private func configure() throws {
        try check(mosquitto_threaded_set(mosquitto, true))
        try check(mosquitto_int_option(mosquitto, MOSQ_OPT_SEND_MAXIMUM, Int32(settings.window)))
        if let user = settings.user {
            try check(mosquitto_username_pw_set(mosquitto, user, settings.password?.text))
        }
        if let tls = settings.tls {
            try check(mosquitto_tls_set(mosquitto, tls.authorities, nil, tls.certificate, tls.key, nil))
        }
        if let will = settings.will {
            try will.payload.withUnsafeBytes { bytes in
                let count = Int32(bytes.count)
                try check(mosquitto_will_set(mosquitto, will.topic, count, bytes.baseAddress, 1, will.isRetained))
            }
        }
    }

    // MARK: Connection

    /// Begins to connect, on a separate thread.
    package func start() {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        guard isFirst else { return }
        let thread = Thread { [self] in runLoop() }
        thread.name = "mosquitto"
        thread.start()
    }

    /// Ends the connection, after all messages published before, and returns when it has ended; both sequences end.
    ///
    /// The broker does not publish the will. Returns after `limit` at the latest; blocks the calling thread. The thread
    /// of the connection may then still wait for a name server, which cannot be interrupted.
    package func stop(within limit: Duration = .seconds(2)) {
        let wasRunning = state.withLock { state in
            defer { state.isStopping = true }
            return state.isStarted && !state.isStopping
        }
        guard wasRunning else { return }
        mosquitto_disconnect(mosquitto)
        wake.signal()
        _ = ended.wait(timeout: .now() + .milliseconds(limit.milliseconds))
        eventSink.finish()
        messageSink.finish()
    }

    /// The number of rounds that the thread of the connection has completed; a round takes a second at most while it
    /// works.
    package var loops: Int { state.withLock { $0.loops } }

    /// The number of messages that were dropped because ``messages`` was not read in time, or because they were too
    /// long.
    package var droppedMessages: Int { state.withLock { $0.dropped } }

    private var isStopping: Bool { state.withLock { $0.isStopping } }
    private var isAccepted: Bool { state.withLock { $0.accepted != nil } }

    /// Counts a round of the thread.
    ///
    /// - Returns: Whether another round follows.
    private func completeRound() -> Bool {
        state.withLock { state in
            state.loops += 1
            return !state.isStopping
        }
    }

    /// Runs the rounds of the connection; libmosquitto's thread would end on some errors, such as a refused
    /// certificate.
    private func runLoop() {
        var connector = Connector(mosquitto, settings) { [self] in completeRound() }
        var backoff = Backoff()
        while completeRound() {
            state.withLock { ($0.accepted, $0.refusal) = (nil, nil) }
            let failure = connector.connect() ?? exchange()
            connector.disconnect()
            guard let failure, !isStopping else { break }
            let (accepted, refusal) = state.withLock { ($0.accepted, $0.refusal) }
            eventSink.yield(.disconnected(refusal ?? failure))
            wait(backoff.next(after: accepted.map { .now - $0 }))
        }
        eventSink.finish()
        messageSink.finish()
        ended.signal()
    }

    private func wait(_ range: ClosedRange<Duration>) {
        if let pause { return pause(range) }
        let milliseconds = Int.random(in: range.lowerBound.milliseconds...range.upperBound.milliseconds)
        _ = wake.wait(timeout: .now() + .milliseconds(milliseconds))
    }

    /// Exchanges packets on a new connection until it fails.
    ///
    /// - Returns: The failure; nil after ``stop(within:)``.
    private func exchange() -> MosquittoError? {
        let deadline = ContinuousClock.now + settings.answerLimit
        var isClosed = false
        while completeRound() {
            let result = loop(isAccepted ? 1_000 : 100)
            if let failure = MosquittoError(result: result) { return failure }
            guard !isAccepted else { continue }
            // libmosquitto has read all bytes, and reports nothing about a connection that ends during TLS's handshake.
            guard !isClosed else { return MosquittoError("the broker closed the connection") }
            guard ContinuousClock.now < deadline else { return MosquittoError("the broker does not answer") }
            isClosed = !awaitAnswer()
        }
        flush()
        return nil
    }

    /// Waits for packets, and exchanges them.
    private func loop(_ milliseconds: Int32) -> Int32 {
        let result = mosquitto_loop(mosquitto, milliseconds, 1)
        let packets = state.withLock { state in
            defer { state.acknowledged = [] }
            return state.acknowledged
        }
        if !packets.isEmpty { eventSink.yield(.acknowledged(packets)) }
        return result
    }

    /// Waits a moment for an answer: `mosquitto_loop` itself may not wait during TLS's handshake.
    ///
    /// - Returns: Whether the connection is open.
    private func awaitAnswer() -> Bool {
        var descriptor = pollfd(fd: mosquitto_socket(mosquitto), events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, 20) > 0 else { return true }
        return Int32(descriptor.revents) & (Int32(POLLHUP) | Int32(POLLERR)) == 0
    }

    /// Sends the remaining packets, DISCONNECT included.
    private func flush() {
        for _ in 0..<100 where mosquitto_want_write(mosquitto) {
            guard loop(10) == MOSQ_ERR_SUCCESS.asCInt else { return }
        }
    }

    // MARK: Messages

    /// Publishes a message with QoS 1.
    ///
    /// libmosquitto keeps it without a connection, and sends it on the next one.
    ///
    /// - Returns: The packet identifier that ``MQTTEvent/acknowledged(_:)`` names.
    @discardableResult
    package func publish(_ message: MQTTMessage) throws -> Int32 {
        var packet: Int32 = 0
        let result = message.payload.withUnsafeBytes { bytes in
            mosquitto_publish(
                mosquitto, &packet, message.topic, Int32(bytes.count), bytes.baseAddress, 1, message.isRetained)
        }
        // This result means that the message waits for a connection.
        if result != MOSQ_ERR_NO_CONN.asCInt { try check(result) }
        return packet
    }

    /// Subscribes to a topic filter with QoS 1, for the present connection.
    package func subscribe(to filter: String) throws { try check(mosquitto_subscribe(mosquitto, nil, filter, 1)) }

    /// Ends a subscription.
    package func unsubscribe(from filter: String) throws { try check(mosquitto_unsubscribe(mosquitto, nil, filter)) }

    // MARK: Callbacks

    private func setCallbacks() {
        mosquitto_connect_callback_set(mosquitto) { _, context, code in
            guard let client = MosquittoClient.client(context) else { return }
            if code == 0 {
                client.state.withLock { $0.accepted = .now }
                client.eventSink.yield(.connected)
            } else {
                let reason = String(cString: mosquitto_connack_string(code))
                let refusal = MosquittoError("the broker refuses the connection: \(reason)")
                client.state.withLock { $0.refusal = refusal }
            }
        }
        mosquitto_publish_callback_set(mosquitto) { _, context, packet in
            MosquittoClient.client(context)?.state.withLock { $0.acknowledged.append(packet) }
        }
        mosquitto_message_callback_set(mosquitto) { _, context, message in
            guard let client = MosquittoClient.client(context), let message = message?.pointee else { return }
            client.received(message)
        }
    }

    private static func client(_ context: UnsafeMutableRawPointer?) -> MosquittoClient? {
        context.map { Unmanaged<MosquittoClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func received(_ message: mosquitto_message) {
        guard let topic = message.topic, message.payloadlen <= Self.payloadLimit else { return countDropped() }
        let payload = message.payload.map { Data(bytes: $0, count: Int(message.payloadlen)) } ?? Data()
        let result = messageSink.yield(MQTTMessage(String(cString: topic), payload, isRetained: message.retain))
        if case .dropped = result { countDropped() }
    }

    private func countDropped() { state.withLock { $0.dropped += 1 } }

    // MARK: Errors

    private func check(_ result: Int32) throws {
        if let error = MosquittoError(result: result) { throw error }
    }
}

extension Duration {
    /// The duration in whole milliseconds.
    fileprivate var milliseconds: Int {
        Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
