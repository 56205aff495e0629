#if os(Linux)
import BluetoothSupport
import Dispatch
import Logging

/// The names of the bus itself.
public enum BusDriver {
    /// The name of the bus and of its interface.
    public static let name = "org.freedesktop.DBus"
    /// The path of the bus's object, the only one with the other interfaces of the bus.
    package static let path = ObjectPath(validated: "/org/freedesktop/DBus")

    /// A call to the bus; the members used here need no validation.
    static func call(_ member: String, _ body: [DBusValue]) throws(DBusError) -> DBusMessage {
        try .methodCall(to: name, path: path, interface: name, member: member, body)
    }
}

/// The subscription of one handler to signals; it ends with ``cancel()`` or its last reference.
public final class DBusSubscription: Sendable {
    private let removal: DelayedCall

    init(remove: @escaping @Sendable () -> Void) { removal = DelayedCall(remove) }

    deinit { cancel() }

    /// Ends the subscription; a running handler finishes.
    ///
    /// Any thread.
    public func cancel() { removal.fire() }
}

extension DBusConnection {
    /// The deadline for the bus's replies about match rules and names.
    package static let busDeadline = Duration.seconds(10)

    /// Subscribes to signals.
    ///
    /// - Parameters:
    ///   - rule: The signals to receive.
    ///   - handler: Runs on the queue with each signal, in the order of the socket.
    ///   - completion: Runs on the queue with the bus's reply. The reply to a later call arrives after the rule is in
    ///     force, so there is no need to wait.
    /// - Returns: The subscription; retain it.
    public func subscribe(
        _ rule: DBusMatchRule, handler: @escaping @Sendable (DBusMessage) -> Void,
        completion: @escaping @Sendable (Result<Void, DBusError>) -> Void = { _ in }
    ) -> DBusSubscription {
        let core = core
        let subscription = ConnectionCore.Subscription(rule, handler)
        core.state.withLock { $0.subscriptions.append(subscription) }
        callBus("AddMatch", [.string(rule.text)]) { reply in completion(reply.map { _ in }) }
        return DBusSubscription { [weak core, weak subscription] in
            // Otherwise the connection is closed.
            if let subscription { core?.remove(subscription) }
        }
    }

    /// Watches the owner of a name.
    ///
    /// - Parameters:
    ///   - name: A well-known name, such as `org.bluez`.
    ///   - handler: Runs on the queue, first with the current owner (`nil` for none), then with each change; with an
    ///     error if the bus refuses the request.
    /// - Returns: The watch; retain it.
    public func watchOwner(
        of name: String, handler: @escaping @Sendable (Result<String?, DBusError>) -> Void
    ) -> DBusSubscription {
        let rule = DBusMatchRule(
            sender: BusDriver.name, interface: BusDriver.name, member: "NameOwnerChanged", argument0: name)
        let subscription = subscribe(rule) { message in
            handler(Result.success(message).read(Self.newOwner))
        } completion: { added in
            if case .failure(let error) = added { handler(.failure(error)) }
        }
        callBus("GetNameOwner", [.string(name)]) { reply in
            let owner = reply.read { body throws(DBusError) -> String? in try body.string() }
            if case .failure(let error) = owner, error.name == DBusError.Name.nameHasNoOwner {
                handler(.success(nil))
            } else {
                handler(owner)
            }
        }
        return subscription
    }

    /// Requests a well-known name for this connection, without waiting in line for it.
    ///
    /// - Parameter completion: Runs on the queue, once: `true` if the connection owns the name now, `false` if another
    ///   connection does; with `AccessDenied` if the policy of the bus forbids it.
    package func requestName(
        _ name: String, completion: @escaping @Sendable (Result<Bool, DBusError>) -> Void
    ) {
        // DBUS_NAME_FLAG_DO_NOT_QUEUE; the replies are DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER and …_ALREADY_OWNER.
        callBus("RequestName", [.string(name), .uint32(4)]) { reply in
            completion(reply.read { body throws(DBusError) in [1, 4].contains(try body.uint32()) })
        }
    }

    private static func newOwner(_ body: inout DBusReader) throws(DBusError) -> String? {
        _ = (name: try body.string(), oldOwner: try body.string())
        let owner = try body.string()
        return owner.isEmpty ? nil : owner
    }

    /// Calls a method of the bus itself.
    ///
    /// - Parameters:
    ///   - member: The method.
    ///   - arguments: Its arguments.
    ///   - deadline: The limit for the reply.
    ///   - completion: Runs on the queue, once, with the reply or an error.
    package func callBus(
        _ member: String, _ arguments: [DBusValue], deadline: Duration = DBusConnection.busDeadline,
        completion: @escaping @Sendable (Result<DBusMessage, DBusError>) -> Void
    ) {
        call(try BusDriver.call(member, arguments), deadline: deadline, completion: completion)
    }
}

extension ConnectionCore {
    func remove(_ subscription: Subscription) {
        let isOpen = state.withLock { state -> Bool in
            state.subscriptions.removeAll { $0 === subscription }
            return state.closed == nil
        }
        guard isOpen else { return }
        do {
            let message = try BusDriver.call("RemoveMatch", [.string(subscription.rule.text)])
            message.suppressReply()
            try send(message)
        } catch {
            Self.logger.line(.debug, "a match rule was not removed: \(error)")
        }
    }
}
#endif
