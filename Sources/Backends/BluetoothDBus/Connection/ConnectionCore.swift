#if os(Linux)
import BluetoothSupport
import Dispatch
import Glibc
import Logging

/// One private libdbus connection, driven by a ``SocketPoller`` on one serial queue.
///
/// Every call into libdbus is made under one lock, and none of them calls our handlers: messages are popped under
/// the lock and handled outside it, on the queue. Any thread may therefore send, and so may handlers.
// Invariant: the state is accessed only under its lock; the comment of each other variable states its own invariant.
final class ConnectionCore: @unchecked Sendable {
    typealias Completion = @Sendable (Result<DBusMessage, DBusError>) -> Void
    typealias DisconnectHandler = @Sendable (DBusError) -> Void
    typealias BatchEndHandler = @Sendable (_ allowsInline: Bool) -> (@Sendable () -> Void)?

    struct State {
        var pending = PendingCalls<Completion>()
        /// The subscriptions, oldest first.
        var subscriptions: [Subscription] = []
        var closed: DBusError?
        var isClosing = false
        var disconnectHandler: DisconnectHandler?
        var callHandler: (@Sendable (DBusCall) -> Void)?
        var batchEndHandler: BatchEndHandler?
    }

    /// A subscription; a class, because each signal is compared with all of them, which would copy the texts of their
    /// rules.
    final class Subscription: Sendable {
        let rule: DBusMatchRule
        let handler: @Sendable (DBusMessage) -> Void
        /// The rule's member, with the final zero byte; nil if the rule has none.
        private let member: [CChar]?

        init(_ rule: DBusMatchRule, _ handler: @escaping @Sendable (DBusMessage) -> Void) {
            self.rule = rule
            self.handler = handler
            member = rule.member.map { Array($0.utf8CString) }
        }

        /// Whether the rule matches a signal of this name.
        ///
        /// A signal that the rule does not match usually has another name, which is compared without a copy of the rule.
        func matches(_ signal: DBusMessage, named name: UnsafePointer<CChar>) -> Bool {
            if let member, strcmp(name, member) != 0 { return false }
            return rule.matches(signal)
        }
    }

    static let logger = Logger(label: "BluetoothDBus")

    let queue: DispatchQueue
    let state = Lock(State())
    // Invariant: set once in `init`, used only under `state`'s lock, released in `deinit`.
    private let raw: OpaquePointer
    // Invariant: set in `start`, before any other access.
    private(set) var callbacks: ConnectionCallbacks?
    /// Created when it is needed, and active from then on: a source that was never activated must not be released.
    // Invariant: used on `queue` only.
    private var timer: (any DispatchSourceTimer)?
    /// Whether received messages are being handled.
    // Invariant: used on `queue` only.
    private(set) var isProcessingBatch = false

    /// Opens the transport.
    ///
    /// Blocks while `connect(2)` blocks; ``start()`` authenticates.
    init(address: String, queue: DispatchQueue) throws(DBusError) {
        raw = try LibDBus.openConnection(address)
        self.queue = queue
        dbus_connection_set_exit_on_disconnect(raw, 0)
        dbus_connection_set_max_message_size(raw, DBusLimits.messageLength)
    }

    deinit {
        callbacks?.poller.stop()
        dbus_connection_unref(raw)
    }

    /// Starts to wait for the socket.
    ///
    /// On the queue.
    ///
    /// - Throws: `LimitsExceeded` if the process has no descriptor or thread left.
    func start() throws(DBusError) {
        var socket: CInt = -1
        guard state.withLock({ _ in dbus_connection_get_socket(raw, &socket) }) != 0 else {
            throw DBusError(name: DBusError.Name.disconnected, message: "the bus closed the connection")
        }
        let poller = try SocketPoller(socket: socket, queue: queue) { [weak self] events, allowsInline in
            self?.ready(events, allowsInline: allowsInline)
        }
        let callbacks = ConnectionCallbacks(poller: poller)
        self.callbacks = callbacks
        startTimer()
        if !state.withLock({ _ in callbacks.install(on: raw) }) {
            Self.logger.line(.error, "no memory left to watch the bus connection")
        }
        pump()
    }

    private func startTimer() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.sweep() }
        timer.activate()
        self.timer = timer
    }

    // MARK: Receiving, on the queue

    /// The number of messages in one read below which the socket is assumed to be drained.
    private static let floodThreshold = 4
    /// The number of reads that one event may cause before other work on the queue runs.
    private static let roundsPerEvent = 16

    private func ready(_ events: SocketPoller.Events, allowsInline: Bool) -> InlineWork? {
        // libdbus reads 2 KiB at a time. In a flood, continuing to read costs less than waiting for the next event.
        for _ in 0..<Self.roundsPerEvent {
            isProcessingBatch = true
            state.withLock { _ in callbacks?.handle(events) }
            let isFlood = pump() >= Self.floodThreshold
            isProcessingBatch = false
            let batchEndHandler = state.withLock { $0.batchEndHandler }
            let work = batchEndHandler?(allowsInline && !isFlood)
            guard isFlood else { return work }
        }
        return nil
    }

    /// Handles the received messages, and returns their number.
    @discardableResult
    private func pump() -> Int {
        var count = 0
        while let message = nextMessage() {
            handle(message)
            count += 1
        }
        return count
    }

    private func nextMessage() -> DBusMessage? {
        let raw = state.withLock { _ -> UInt in
            callbacks?.wakeIsWanted = false
            return UInt(bitPattern: dbus_connection_pop_message(self.raw))
        }
        return OpaquePointer(bitPattern: raw).map(DBusMessage.init(adopting:))
    }

    /// Runs `pump` soon if libdbus requested it during the last call.
    ///
    /// Under the lock.
    private func wakeIfWanted() {
        guard let callbacks, callbacks.wakeIsWanted else { return }
        callbacks.wakeIsWanted = false
        queue.async { [weak self] in _ = self?.pump() }
    }

    private func handle(_ message: DBusMessage) {
        switch message.type {
        case DBUS_MESSAGE_TYPE_METHOD_RETURN, DBUS_MESSAGE_TYPE_ERROR: handleReply(message)
        case DBUS_MESSAGE_TYPE_SIGNAL: handleSignal(message)
        case DBUS_MESSAGE_TYPE_METHOD_CALL: handleCall(message)
        default: break
        }
    }

    private func handleReply(_ message: DBusMessage) {
        let serial = dbus_message_get_reply_serial(message.raw)
        let sender = message.sender
        let entry = state.withLock { $0.pending.removeCall(serial, from: sender) }
        guard let entry else {
            Self.logger.line(.debug, "late or unexpected reply ignored", metadata: ["serial": "\(serial)"])
            return
        }
        entry.completion(message.error.map(Result.failure) ?? .success(message))
    }

    private func handleSignal(_ message: DBusMessage) {
        if message.has(interface: "org.freedesktop.DBus.Local", member: "Disconnected") {
            return finish(DBusError(name: DBusError.Name.disconnected, message: "the bus closed the connection"))
        }
        // A signal has a name.
        guard let name = dbus_message_get_member(message.raw) else { return }
        let subscriptions = state.withLock { $0.subscriptions }
        for subscription in subscriptions where subscription.matches(message, named: name) {
            subscription.handler(message)
        }
    }

    // MARK: Sending, any thread

    func call(_ message: DBusMessage, deadline: UInt64, completion: @escaping Completion) {
        let destination = dbus_message_get_destination(message.raw).map { String(cString: $0) } ?? ""
        let entry = PendingCalls.Entry(destination: destination, deadline: deadline, completion: completion)
        let message = message.raw
        do throws(DBusError) {
            let sweep = try state.withLock { state throws(DBusError) in
                // No reply is handled before: that needs the lock.
                let serial = try send(message, &state)
                return state.pending.insert(entry, serial: serial)
            }
            if sweep != nil { queue.async { [weak self] in self?.sweep() } }
        } catch {
            queue.async { completion(.failure(error)) }
        }
    }

    func send(_ message: DBusMessage) throws(DBusError) {
        let message = message.raw
        _ = try state.withLock { state throws(DBusError) in try send(message, &state) }
    }

    /// Numbers a message and passes it to libdbus.
    ///
    /// Under the lock.
    private func send(_ message: OpaquePointer, _ state: inout State) throws(DBusError) -> UInt32 {
        if let closed = state.closed { throw closed }
        let serial = state.pending.nextSerial()
        dbus_message_set_serial(message, serial)
        guard dbus_connection_send(raw, message, nil) != 0 else { throw .outOfMemory }
        wakeIfWanted()
        return serial
    }

    // MARK: Deadlines and the end, on the queue

    private func sweep() {
        let now = DispatchTime.now().uptimeNanoseconds
        let due = state.withLock { $0.pending.expire(now: now) }
        if let next = due.nextSweep {
            timer?.schedule(deadline: DispatchTime(uptimeNanoseconds: next), leeway: .milliseconds(5))
        }
        for entry in due.expired {
            let error = DBusError(name: DBusError.Name.noReply, message: "no reply from \(entry.destination) in time")
            entry.completion(.failure(error))
        }
    }

    private func finish(_ error: DBusError) {
        // The handlers are released after the lock: what they retain may close this connection when it is released.
        let last = state.withLock { state -> State? in
            guard state.closed == nil else { return nil }
            let last = state
            state = State()
            state.closed = error
            state.isClosing = last.isClosing
            return last
        }
        guard var last else { return }
        for call in last.pending.removeAll() { call.completion(.failure(error)) }
        if !last.isClosing { last.disconnectHandler?(error) }
    }

    /// Closes the connection; may be called on any thread, and more than once.
    func close() {
        state.withLock { $0.isClosing = true }
        queue.async { [self] in
            finish(DBusError(name: DBusError.Name.disconnected, message: "the connection was closed"))
            timer?.cancel()
            state.withLock { _ in
                dbus_connection_close(raw)
                ConnectionCallbacks.remove(from: raw)
            }
            callbacks?.poller.stop()
        }
    }

    /// Whether the bus accepted our credentials.
    var isAuthenticated: Bool {
        state.withLock { _ in dbus_connection_get_is_authenticated(raw) != 0 }
    }

    /// Whether messages in both directions may contain file descriptors; known once authenticated.
    var passesDescriptors: Bool {
        state.withLock { _ in dbus_connection_can_send_type(raw, CInt(UInt8(ascii: "h"))) != 0 }
    }

    func setUniqueName(_ name: String) -> Bool {
        state.withLock { _ in dbus_bus_set_unique_name(raw, name) != 0 }
    }
}
#endif
