#if os(Linux)
public import Dispatch
import BluetoothSupport

/// A private connection to a message bus.
///
/// Any thread may call any method. Completions and handlers run on the connection's queue, one at a time, in the order
/// of the socket. Nothing here blocks, and every call has a deadline. The connection closes with its last reference.
///
/// A thread of the connection waits for the socket and then enters the queue; if the queue is idle, it runs on that
/// thread. A second thread is ready to take over.
public final class DBusConnection: Sendable {
    /// The default deadline for opening a connection.
    public static let openingDeadline = Duration.seconds(10)

    /// The unique name of this connection, such as `:1.42`.
    public let uniqueName: String
    /// The serial queue on which completions and handlers run.
    public var queue: DispatchQueue { core.queue }
    let core: ConnectionCore

    private init(core: ConnectionCore, uniqueName: String) {
        self.core = core
        self.uniqueName = uniqueName
    }

    deinit { core.close() }

    /// Opens a connection and calls the `Hello` method of the bus.
    ///
    /// - Parameters:
    ///   - address: The address of the bus.
    ///   - queue: A serial queue, on which everything is handled except `connect(2)`, which may block.
    ///   - deadline: The limit for `connect(2)`, and again for authentication and `Hello`.
    ///   - completion: Runs on the queue, once. Fails with `AuthFailed` if the bus refuses the credentials,
    ///     `Disconnected` if it hangs up, `NoReply` if it accepts no connection or does not respond, `LimitsExceeded`
    ///     if this process has no descriptor or thread left, `NotSupported` if libdbus-1 is not installed, or with
    ///     libdbus's error about the address.
    public static func open(
        _ address: DBusAddress, queue: DispatchQueue, deadline: Duration = openingDeadline,
        completion: @escaping @Sendable (Result<DBusConnection, DBusError>) -> Void
    ) {
        // Neither on the queue, whose other work must not wait for `connect(2)`, nor on a global queue: see
        // `DispatchEventLoop`.
        DispatchQueue(label: "DBusConnection").async {
            do throws(DBusError) {
                guard let text = address.text else {
                    throw DBusError(
                        name: "org.freedesktop.DBus.Error.NoServer",
                        message: "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
                }
                try DispatchEventLoop.prepare()
                connect(text, queue: queue, deadline: deadline) { result in
                    switch result {
                    case .success(let core): start(core, deadline: deadline, completion: completion)
                    case .failure(let error): completion(.failure(error))
                    }
                }
            } catch {
                queue.async { completion(.failure(error)) }
            }
        }
    }

    /// Opens a connection and calls the `Hello` method of the bus.
    ///
    /// - Parameters:
    ///   - address: The address of the bus.
    ///   - queue: A serial queue, on which everything is handled except `connect(2)`.
    ///   - deadline: The limit for `connect(2)`, and again for authentication and `Hello`.
    /// - Throws: The error of ``open(_:queue:deadline:completion:)``.
    public static func open(
        _ address: DBusAddress, queue: DispatchQueue, deadline: Duration = openingDeadline
    ) async throws(DBusError) -> DBusConnection {
        let opened = await withCheckedContinuation { continuation in
            open(address, queue: queue, deadline: deadline) { continuation.resume(returning: $0) }
        }
        return try opened.get()
    }

    private static let attempts = Lock(ConnectAttempts())

    /// Opens the transport, on the calling thread.
    ///
    /// - Parameter completion: Runs on the queue, once, at the deadline at the latest.
    private static func connect(
        _ address: String, queue: DispatchQueue, deadline: Duration,
        completion: @escaping @Sendable (Result<ConnectionCore, DBusError>) -> Void
    ) {
        let late = DBusError(name: DBusError.Name.noReply, message: "the bus does not accept connections")
        guard let attempt = attempts.withLock({ $0.begin(address) }) else {
            return queue.async { completion(.failure(late)) }
        }
        let timer = DelayedCall {
            if attempts.withLock({ $0.deadlinePassed(attempt) }) { completion(.failure(late)) }
        }
        queue.asyncAfter(machineDeadline: DispatchTime(uptimeNanoseconds: instant(after: deadline))) { timer.fire() }
        let result = Result { () throws(DBusError) in try ConnectionCore(address: address, queue: queue) }
        if attempts.withLock({ $0.end(attempt) }) {
            // Otherwise the completion, and what it retains, would stay until the deadline.
            timer.cancel()
            return queue.async { completion(result) }
        }
        if case .success(let core) = result { core.close() }
    }

    private static func start(
        _ core: ConnectionCore, deadline: Duration,
        completion: @escaping @Sendable (Result<DBusConnection, DBusError>) -> Void
    ) {
        do throws(DBusError) {
            try core.start()
            core.call(try BusDriver.call("Hello", []), deadline: instant(after: deadline)) { reply in
                let opened = reply.read { body throws(DBusError) in
                    let name = try body.string()
                    guard core.setUniqueName(name) else { throw .outOfMemory }
                    return DBusConnection(core: core, uniqueName: name)
                }
                guard case .failure(var error) = opened else { return completion(opened) }
                // A bus that refuses the credentials closes the connection.
                if error.name == DBusError.Name.disconnected, !core.isAuthenticated {
                    error = DBusError(
                        name: DBusError.Name.authenticationFailed, message: "the bus refused authentication")
                }
                core.close()
                completion(.failure(error))
            }
        } catch {
            core.close()
            completion(.failure(error))
        }
    }

    /// Calls `handler` on the queue, once, when the bus has closed the connection; not after ``close()``.
    ///
    /// If the connection is already closed, the handler runs soon.
    public func onDisconnect(_ handler: @escaping @Sendable (DBusError) -> Void) {
        let closed = core.state.withLock { state -> DBusError? in
            if state.closed == nil { state.disconnectHandler = handler }
            return state.isClosing ? nil : state.closed
        }
        if let closed { queue.async { handler(closed) } }
    }

    /// Whether messages may contain file descriptors: not over TCP, nor over a pipe to another machine.
    ///
    /// A message with a descriptor that is sent to such a connection is lost in the bus.
    public var passesDescriptors: Bool { core.passesDescriptors }

    /// Whether a batch of messages is being handled, after which the handler of ``onBatchEnd(_:)`` is called.
    ///
    /// Called on the queue only.
    package var isProcessingBatch: Bool { core.isProcessingBatch }

    /// Calls `handler` on the queue when a batch of messages has been handled.
    ///
    /// - Parameter handler: Returns work that the thread that waits for the socket runs off the queue before it waits
    ///   again; only if the parameter is true. Work that takes long delays the next messages by 20 milliseconds at
    ///   most.
    package func onBatchEnd(_ handler: @escaping @Sendable (_ allowsInline: Bool) -> (@Sendable () -> Void)?) {
        core.state.withLock { $0.batchEndHandler = handler }
    }

    /// Calls `handler` on the queue with each incoming method call; without a handler, all are refused.
    package func onCall(_ handler: (@Sendable (DBusCall) -> Void)?) {
        // The old handler is released after the lock.
        _ = core.state.withLock { state -> (@Sendable (DBusCall) -> Void)? in
            guard state.closed == nil else { return nil }
            return exchange(&state.callHandler, with: handler)
        }
    }

    /// Closes the connection.
    ///
    /// Waiting calls fail with `Disconnected`.
    public func close() {
        core.close()
    }

    /// Calls a method.
    ///
    /// - Parameters:
    ///   - message: A method call, which the caller must not use again; if it throws, the call fails with its error.
    ///   - deadline: The limit for the reply; then the call fails with `NoReply`, and a late reply is ignored.
    ///   - completion: Runs on the queue, once, with the reply or an error.
    public func call(
        _ message: @autoclosure () throws(DBusError) -> DBusMessage, deadline: Duration,
        completion: @escaping @Sendable (Result<DBusMessage, DBusError>) -> Void
    ) {
        do throws(DBusError) {
            core.call(try message(), deadline: Self.instant(after: deadline), completion: completion)
        } catch {
            queue.async { completion(.failure(error)) }
        }
    }

    /// Calls a method and returns the reply's body.
    ///
    /// - Throws: The peer's error, or `NoReply`, or `Disconnected`.
    public func call(
        to destination: String, path: ObjectPath, interface: String, member: String, _ body: [DBusValue] = [],
        deadline: Duration = .seconds(25)
    ) async throws(DBusError) -> [DBusValue] {
        let message = try DBusMessage.methodCall(
            to: destination, path: path, interface: interface, member: member, body)
        let result = await withCheckedContinuation { continuation in
            call(message, deadline: deadline) { reply in
                continuation.resume(returning: reply.values)
            }
        }
        return try result.get()
    }

    /// Sends a message that expects no reply: a signal, or the reply to a call.
    ///
    /// - Parameter message: The message, which the caller must not use again.
    /// - Throws: `Disconnected` if the connection is closed.
    public func send(_ message: DBusMessage) throws(DBusError) {
        try core.send(message)
    }

    /// The instant on the monotonic clock, in nanoseconds; saturates.
    private static func instant(after delay: Duration) -> UInt64 {
        (DispatchTime.now() + max(.zero, delay).dispatchInterval).uptimeNanoseconds
    }
}

/// The calls of `connect(2)` of this process that have not returned.
///
/// Pure. Such a call blocks while the bus does not accept connections, and cannot be cancelled. A late call is
/// therefore left running, and no other call to its address begins until it returns.
struct ConnectAttempts: Sendable {
    typealias Number = UInt64

    private struct Attempt: Sendable {
        let address: String
        var isLate = false
    }

    private var attempts: [Number: Attempt] = [:]
    private var last: Number = 0

    /// Records an attempt; nil if a late one is still running.
    mutating func begin(_ address: String) -> Number? {
        guard !attempts.values.contains(where: { $0.address == address && $0.isLate }) else { return nil }
        last += 1
        attempts[last] = Attempt(address: address)
        return last
    }

    /// Records that an attempt's deadline has passed.
    ///
    /// - Returns: Whether it is late; false if it has already returned.
    mutating func deadlinePassed(_ number: Number) -> Bool {
        attempts[number]?.isLate = true
        return attempts[number] != nil
    }

    /// Records that an attempt has returned.
    ///
    /// - Returns: Whether it was in time.
    mutating func end(_ number: Number) -> Bool { attempts.removeValue(forKey: number)?.isLate == false }
}

extension Result where Success == DBusMessage, Failure == DBusError {
    /// All values in the body of a reply.
    package var values: Result<[DBusValue], DBusError> {
        read { body throws(DBusError) in try body.remainingValues() }
    }

    /// Reads the body of a reply.
    func read<Value>(_ body: (inout DBusReader) throws(DBusError) -> Value) -> Result<Value, DBusError> {
        Result<Value, DBusError> { () throws(DBusError) in
            var reader = DBusReader(try get())
            return try body(&reader)
        }
    }
}
#endif
