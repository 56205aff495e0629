#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule
import FoundationEssentials

/// Subscriptions and their values.
extension CentralLink {
    /// Subscribes or unsubscribes over `StartNotify`, which loses no value and keeps the order, or over
    /// `AcquireNotify`, as the app chose.
    ///
    /// BlueZ pitfall: `AcquireNotify` loses values that arrive before its socket is made
    /// (https://github.com/hbldh/bleak/issues/1885).
    ///
    /// BlueZ pitfall: a daemon that guesses the descriptor writes to a wrong one, and the peer ends the link
    /// (https://github.com/bluez/bluez/issues/2383). The error of `StartNotify` and the end are reported as they occur.
    mutating func setNotifying(
        _ attribute: AttributeID, _ enabled: Bool, _ operation: Operation, _ context: inout CentralContext
    ) {
        guard let path = object(attribute, operation, &context) else { return }
        // Before the call, because a value may arrive before the reply.
        let mustAct = context.ledger.setSubscribed(operation.manager, to: attribute, of: peer, enabled)
        guard mustAct else { return respond(operation, .notifying(enabled), &context) }
        if enabled {
            let needsSignals = operation.needsSignals || !context.objects.passesDescriptors
            let method = needsSignals ? .startNotify : context.notificationMethod
            let call = method.call
            subscriptions[path] = .init(attribute: attribute, source: call.source)
            send(operation, path, call.member, call.arguments, reply: call.reply, &context)
            return
        }
        switch subscriptions.remove(path)?.source {
        case .signals, nil: send(operation, path, "StopNotify", [], &context)
        case .socket(let socket):
            release(socket, of: path, &context)
            respond(operation, .notifying(false), &context)
        case .acquiring, .closedSocket: respond(operation, .notifying(false), &context)
        }
    }

    /// Reverts the subscription after a failed call: a failed subscribe leaves no subscription, a failed unsubscribe
    /// keeps it.
    mutating func undoNotifying(_ operation: Operation, _ context: inout CentralContext) {
        guard case .request(_, _, .setNotifying(let attribute, let enabled)) = operation.command else { return }
        let path = attributes.path(of: attribute)
        // A characteristic that is gone has no subscription.
        _ = context.ledger.setSubscribed(operation.manager, to: attribute, of: peer, !enabled && path != nil)
        guard let path else { return }
        // Only an unsubscribe over the bus makes a call.
        subscriptions[path] = enabled ? nil : .init(attribute: attribute, source: .signals)
    }

    /// Whether a call failed because the subscription to end does not exist.
    func hasNothingToEnd(_ operation: Operation, _ error: DBusError) -> Bool {
        guard case .request(_, _, .setNotifying(_, false)) = operation.command else { return false }
        return error.message == "No notify session started"
    }

    /// Ends all subscriptions.
    ///
    /// BlueZ pitfall: a subscription of `StartNotify` belongs to the D-Bus client and outlives the link; at the next
    /// connection it would exist without a request (https://github.com/hbldh/bleak/issues/472).
    mutating func stopNotifying(_ context: inout CentralContext) {
        for (path, subscription) in subscriptions.sorted { end(subscription, to: path, &context) }
    }

    /// Ends the subscriptions that have lost their last manager.
    mutating func endIdleSubscriptions(_ context: inout CentralContext) {
        for (path, subscription) in subscriptions.sorted
        where context.ledger.subscribers(of: subscription.attribute, at: peer).isEmpty {
            subscriptions[path] = nil
            end(subscription, to: path, &context)
        }
    }

    private mutating func end(
        _ subscription: LinkSubscriptions.Subscription, to path: ObjectPath, _ context: inout CentralContext
    ) {
        switch subscription.source {
        case .signals where context.objects.characteristics[path] != nil:
            context.call(
                .cleanup, path, GattCharacteristic1.interface, "StopNotify", deadline: context.timings.attribute)
        case .socket(let socket): release(socket, of: path, &context)
        case .signals, .acquiring, .closedSocket: break
        }
    }

    // MARK: Values

    mutating func valueChanged(_ path: ObjectPath, _ value: Data, _ context: inout CentralContext) {
        // BlueZ pitfall: a read is signaled as a change of the value too (https://github.com/hbldh/bleak/issues/1856).
        // The signal arrives just before the reply, so only the last value may be the result of the read.
        guard read?.path == path else { return deliverSignal(value, of: path, &context) }
        let before = read?.value
        read?.value = value
        if let before { deliverSignal(before, of: path, &context) }
    }

    /// Delivers a value from the bus, unless notifications use a socket: then another program has read the value.
    private func deliverSignal(_ value: Data, of path: ObjectPath, _ context: inout CentralContext) {
        guard let subscription = subscriptions[path], subscription.source == .signals else { return }
        deliver(CollectionOfOne(value), of: subscription.attribute, &context)
    }

    private func deliver(
        _ values: some Sequence<Data>, of attribute: AttributeID, _ context: inout CentralContext
    ) {
        let subscribers = context.ledger.subscribers(of: attribute, at: peer)
        for value in values {
            for (manager, link) in subscribers {
                context.deliver(manager, .valueNotified(link: link, attribute: attribute, value: value))
            }
        }
    }

    mutating func endReading(echo: Data?, _ context: inout CentralContext) {
        guard let ended = read else { return }
        read = nil
        if let value = ended.value, value != echo { deliverSignal(value, of: ended.path, &context) }
    }

    // MARK: Sockets

    /// Handles the reply of `AcquireNotify`.
    ///
    /// If the daemon provides no socket, because another program is subscribed or the method is not supported, the
    /// subscription is made over `StartNotify`.
    ///
    /// - Returns: Whether the reply belongs to `AcquireNotify` and is not an error of the subscription itself.
    mutating func acquiredNotifications(
        _ operation: Operation, _ result: Result<MethodReply, DBusError>, _ context: inout CentralContext
    ) -> Bool {
        guard case .request(_, _, .setNotifying(let attribute, true)) = operation.command,
            let path = attributes.path(of: attribute), subscriptions[path]?.source == .acquiring
        else { return false }
        switch result {
        case .success(let reply):
            if adopt(reply, for: path, &context) {
                respond(operation, .notifying(true), &context)
                return true
            }
        case .failure(let error):
            guard Self.refusesSocket(error) else { return false }
            // The daemon may receive the call before it notices the end of the socket that was given back.
            if error.message == "Notify acquired", operation.retries < context.timings.attributeRetries,
                subscriptions.releasedSockets.contains(path)
            {
                retry(operation, &context)
                return true
            }
            context.log(.debug, "AcquireNotify of \(path): \(error)")
        }
        undoNotifying(operation, &context)
        var overBus = operation
        overBus.needsSignals = true
        waiting.prepend(overBus)
        return true
    }

    private static func refusesSocket(_ error: DBusError) -> Bool {
        let names = ["InProgress", "NotPermitted", "NotSupported"].map { "org.bluez.Error.\($0)" }
        return names.contains(error.name) || error.name == DBusError.Name.unknownMethod
    }

    /// Takes over the socket in a reply of `AcquireNotify`, if the reply contains one.
    private mutating func adopt(
        _ reply: MethodReply, for path: ObjectPath, _ context: inout CentralContext
    ) -> Bool {
        guard case .socket(let descriptor, _) = reply, let socket = descriptor.release() else { return false }
        let id = LinkSocketID(number: context.outputs.newNumber(), peer: peer)
        subscriptions.releasedSockets.remove(path)
        subscriptions[path]?.source = .socket(id)
        context.perform(.adopt(socket), onNotificationSocket: id)
        return true
    }

    private mutating func release(
        _ socket: LinkSocketID, of path: ObjectPath, _ context: inout CentralContext
    ) {
        context.perform(.close, onNotificationSocket: socket)
        subscriptions.releasedSockets.insert(path)
    }

    mutating func handleNotificationSocket(
        _ socket: LinkSocketID, _ event: NotificationSockets.Event, _ context: inout CentralContext
    ) {
        guard let (path, subscription) = subscriptions.onSocket(socket) else { return }
        switch event {
        case .values(let values): deliver(values, of: subscription.attribute, &context)
        case .closed:
            subscriptions[path]?.source = .closedSocket
            if ending.isDown { return explainDown(&context) }
            start(.closedSockets, context.timings.linkLoss, &context)
        }
    }

    /// Replaces the sockets that the daemon has closed on a link that has not ended.
    mutating func replaceClosedSockets(_ context: inout CentralContext) {
        guard isOpen else { return }
        for (path, subscription) in subscriptions.sorted where subscription.source == .closedSocket {
            context.log(
                .warning, "bluetoothd has closed its socket for notifications of \(path): the bus is used instead")
            subscribe(to: path, subscription.attribute, by: .startNotify, &context)
        }
    }

    // MARK: Without an operation

    /// Subscribes to a characteristic whose subscription exists already from the app's view.
    mutating func subscribe(
        to path: ObjectPath, _ attribute: AttributeID, by method: BlueZConfiguration.NotificationMethod,
        _ context: inout CentralContext
    ) {
        let call = method.call
        subscriptions[path] = .init(attribute: attribute, source: call.source)
        context.call(
            .resubscription(peer, path, method), path, GattCharacteristic1.interface, call.member, call.arguments,
            reply: call.reply, deadline: context.timings.attribute)
    }

    mutating func resubscribed(
        _ path: ObjectPath, _ method: BlueZConfiguration.NotificationMethod, _ result: Result<MethodReply, DBusError>,
        _ context: inout CentralContext
    ) {
        guard let subscription = subscriptions[path] else { return }
        if method == .acquireNotify {
            guard subscription.source == .acquiring else { return }
            if case .success(let reply) = result, adopt(reply, for: path, &context) { return }
            if result.failure.map(Self.refusesSocket) ?? true {
                return subscribe(to: path, subscription.attribute, by: .startNotify, &context)
            }
        }
        guard let error = result.failure else { return }
        context.log(.warning, "the subscription to \(path) could not be restored: \(error)")
        subscriptions[path] = nil
        let attribute = subscription.attribute
        let reported = ErrorMap.subscription(error, isPaired: isPaired(context.objects))
        for (manager, link) in context.ledger.subscribers(of: attribute, at: peer) {
            _ = context.ledger.setSubscribed(manager, to: attribute, of: peer, false)
            context.deliver(manager, .subscriptionEnded(link: link, attribute: attribute, error: reported))
        }
    }
}

/// A call of `org.bluez.GattCharacteristic1` that subscribes.
private struct SubscribingCall {
    let member: String
    var arguments: [DBusValue] = []
    var reply = MethodCall.ReplyContent.nothing
    /// The source of the values after the call.
    let source: LinkSubscriptions.Source
}

extension BlueZConfiguration.NotificationMethod {
    fileprivate var call: SubscribingCall {
        switch self {
        case .startNotify: SubscribingCall(member: "StartNotify", source: .signals)
        case .acquireNotify:
            SubscribingCall(
                member: "AcquireNotify", arguments: [.properties([:])], reply: .socket, source: .acquiring)
        }
    }
}
#endif
