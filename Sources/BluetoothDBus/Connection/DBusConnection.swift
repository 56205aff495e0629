#if os(Linux)
public import Dispatch
import BluetoothSupport
import Synchronization

/// A private connection to a message bus.
///
/// Any thread may call any method. Completions and handlers run on the connection's queue, one at a time, in the order
/// of the socket. Nothing here blocks, and every call has a deadline. The connection closes with its last reference.
///
/// A thread of the connection's own waits for the socket, and then for its turn on the queue: one that is idle is used on
/// that thread. A second thread stands by.
public final class DBusConnection: Sendable {
    /// How long opening may take where nothing is said.
    public static let openingDeadline = Duration.seconds(10)

    /// The name that the bus gave this connection, such as `:1.42`.
    public let uniqueName: String
    /// The serial queue on which completions and handlers run.
    public var queue: DispatchQueue { core.queue }
    let core: ConnectionCore

    private init(core: ConnectionCore, uniqueName: String) {
        self.core = core
        self.uniqueName = uniqueName
    }

    deinit { core.close() }

    /// Opens a connection and says Hello to the bus.
    ///
    /// - Parameters:
    ///   - address: Which bus.
    ///   - queue: A serial queue; everything is handled on it but `connect(2)`, which may block.
    ///   - deadline: How long `connect(2)` may take, and authentication and Hello after it.
    ///   - completion: Runs on the queue, once. Fails with `AuthFailed` where the bus refuses the credentials,
    ///     `Disconnected` where it hangs up, `NoReply` where it takes no connection or says nothing, `LimitsExceeded`
    ///     where this process has no descriptor or thread left, `NotSupported` where libdbus-1 is not installed, or with
    ///     what libdbus says of the address.
    public static func open(
        _ address: DBusAddress, queue: DispatchQueue, deadline: Duration = openingDeadline,
        completion: @escaping @Sendable (Result<DBusConnection, DBusError>) -> Void
    ) {
        // Not on the queue: nothing else there should have to wait for `connect(2)`. Nor on a global one: see
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

    private static let attempts = Lock(ConnectAttempts())

    /// Opens the transport, on the calling thread.
    ///
    /// - Parameter completion: Runs on the queue, once, at the deadline at the latest.
    private static func connect(
        _ address: String, queue: DispatchQueue, deadline: Duration,
        completion: @escaping @Sendable (Result<ConnectionCore, DBusError>) -> Void
    ) {
        let late = DBusError(name: DBusError.Name.noReply, message: "the bus does not take connections")
        guard let attempt = attempts.withLock({ $0.begin(address) }) else {
            return queue.async { completion(.failure(late)) }
        }
        queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: instant(after: deadline))) {
            if attempts.withLock({ $0.deadlinePassed(attempt) }) { completion(.failure(late)) }
        }
        let result: Result<ConnectionCore, DBusError>
        do throws(DBusError) {
            result = .success(try ConnectionCore(address: address, queue: queue))
        } catch {
            result = .failure(error)
        }
        if attempts.withLock({ $0.end(attempt) }) { return queue.async { completion(result) } }
        if case .success(let core) = result { core.close() }
    }

    private static func start(
        _ core: ConnectionCore, deadline: Duration,
        completion: @escaping @Sendable (Result<DBusConnection, DBusError>) -> Void
    ) {
        do throws(DBusError) {
            try core.start()
            try sayHello(core, deadline: deadline, completion: completion)
        } catch {
            core.close()
            completion(.failure(error))
        }
    }

    private static func sayHello(
        _ core: ConnectionCore, deadline: Duration,
        completion: @escaping @Sendable (Result<DBusConnection, DBusError>) -> Void
    ) throws(DBusError) {
        let hello = try BusDriver.call("Hello", [])
        core.call(hello, deadline: DBusConnection.instant(after: deadline)) { reply in
            let outcome = reply.flatMap { message -> Result<DBusConnection, DBusError> in
                var reader = DBusReader(message)
                do throws(DBusError) {
                    let name = try reader.string()
                    guard core.setUniqueName(name) else { throw .outOfMemory }
                    return .success(DBusConnection(core: core, uniqueName: name))
                } catch {
                    return .failure(error)
                }
            }
            if case .failure(let error) = outcome {
                // A bus that refuses the credentials hangs up.
                let wasRefused = error.name == DBusError.Name.disconnected && !core.isAuthenticated
                core.close()
                return completion(
                    .failure(
                        wasRefused
                            ? DBusError(
                                name: DBusError.Name.authenticationFailed, message: "the bus refused authentication")
                            : error))
            }
            completion(outcome)
        }
    }

    /// Calls `handler` on the queue, once, when the bus has closed the connection; not after ``close()``.
    ///
    /// If it has been closed already, the handler runs soon.
    public func onDisconnect(_ handler: @escaping @Sendable (DBusError) -> Void) {
        let closed = core.state.withLock { state -> DBusError? in
            if state.closed == nil { state.disconnectHandler = handler }
            return state.isClosing ? nil : state.closed
        }
        if let closed { queue.async { handler(closed) } }
    }

    /// Whether messages that came together are being handled, and the handler of ``onBatchEnd(_:)`` is to be called.
    ///
    /// On the queue.
    package var isProcessingBatch: Bool { core.isProcessingBatch }

    /// Calls `handler` on the queue when messages that came together have been handled.
    ///
    /// - Parameter handler: Asked whether the thread that waits for the socket is to do anything else before it waits
    ///   again, off the queue; it may where the parameter says so. What takes its time holds up the next messages for 20
    ///   milliseconds at most.
    package func onBatchEnd(_ handler: @escaping @Sendable (_ allowsInline: Bool) -> (@Sendable () -> Void)?) {
        core.state.withLock { $0.batchEndHandler = handler }
    }

    /// Calls `handler` on the queue with each method call that comes; without one all are refused.
    func onCall(_ handler: (@Sendable (DBusCall) -> Void)?) {
        core.state.withLock { state in
            if state.closed == nil { state.callHandler = handler }
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
    ///   - message: A method call; handed over, the caller must not use it again.
    ///   - deadline: How long the reply may take; then the call fails with `NoReply`, and a late reply is ignored.
    ///   - completion: Runs on the queue, once: the reply, or the error that came in its place.
    public func call(
        _ message: DBusMessage, deadline: Duration,
        completion: @escaping @Sendable (Result<DBusMessage, DBusError>) -> Void
    ) {
        core.call(message, deadline: Self.instant(after: deadline), completion: completion)
    }

    /// Calls a method and gives the reply's body.
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
                continuation.resume(returning: reply.flatMap(Self.body))
            }
        }
        return try result.get()
    }

    private static func body(_ message: DBusMessage) -> Result<[DBusValue], DBusError> {
        var reader = DBusReader(message)
        do throws(DBusError) {
            return .success(try reader.remainingValues())
        } catch {
            return .failure(error)
        }
    }

    /// Sends a message that expects no reply: a signal, or the answer to a call.
    ///
    /// - Parameter message: Handed over, the caller must not use it again.
    /// - Throws: `Disconnected` where the connection is closed.
    public func send(_ message: DBusMessage) throws(DBusError) {
        try core.send(message)
    }

    /// The instant on the monotonic clock, in nanoseconds; saturates.
    private static func instant(after delay: Duration) -> UInt64 {
        let (seconds, attoseconds) = delay.components
        guard seconds >= 0, attoseconds >= 0 else { return DispatchTime.now().uptimeNanoseconds }
        guard seconds < 1_000_000_000 else { return .max }
        return DispatchTime.now().uptimeNanoseconds + UInt64(seconds) * 1_000_000_000
            + UInt64(attoseconds / 1_000_000_000)
    }
}
#endif
