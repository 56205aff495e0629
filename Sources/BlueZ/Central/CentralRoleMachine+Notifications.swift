#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule
import FoundationEssentials

/// Subscriptions and their values.
extension CentralRoleMachine {
    /// Subscribes or unsubscribes over `StartNotify`, which loses no value and keeps the order, or over
    /// `AcquireNotify`, as the app chose.
    ///
    /// BlueZ pitfall: `AcquireNotify` loses values that arrive before its socket is made
    /// (https://github.com/hbldh/bleak/issues/1885).
    ///
    /// BlueZ pitfall: a daemon that guesses the descriptor writes to a wrong one, and the peer ends the link
    /// (https://github.com/bluez/bluez/issues/2383). The error of `StartNotify` and the end are reported as they occur.
    mutating func setNotifying(
        _ peer: PeerID, _ attribute: AttributeID, _ enabled: Bool, _ operation: LinkState.Operation
    ) {
        guard let path = object(attribute, peer, operation) else { return }
        // Before the call, because a value may arrive before the reply.
        let mustAct = ledger.setSubscribed(operation.manager, to: attribute, of: peer, enabled)
        guard mustAct else { return respond(operation, .notifying(enabled)) }
        if enabled {
            let needsSignals = operation.needsSignals || !objects.passesDescriptors
            let method = needsSignals ? .startNotify : notificationMethod
            links[peer]?.subscriptions[path] = LinkState.Subscription(attribute: attribute, source: method.source)
            send(peer, operation, path, method.member, method.arguments)
            return
        }
        switch links[peer]?.subscriptions.removeValue(forKey: path)?.source {
        case .signals, nil: send(peer, operation, path, "StopNotify")
        case .socket(let socket):
            release(socket, of: path)
            respond(operation, .notifying(false))
        case .acquiring, .closedSocket: respond(operation, .notifying(false))
        }
    }

    /// Reverts the subscription after a failed call: a failed subscribe leaves no subscription, a failed unsubscribe
    /// keeps it.
    mutating func undoNotifying(_ peer: PeerID, _ operation: LinkState.Operation) {
        guard case .request(_, _, .setNotifying(let attribute, let enabled)) = operation.command else { return }
        let path = links[peer]?.attributes.path(of: attribute)
        // A characteristic that is gone has no subscription.
        _ = ledger.setSubscribed(operation.manager, to: attribute, of: peer, !enabled && path != nil)
        guard let path else { return }
        // Only an unsubscribe over the bus makes a call.
        links[peer]?.subscriptions[path] =
            enabled ? nil : LinkState.Subscription(attribute: attribute, source: .signals)
    }

    /// Whether a call failed because the subscription to end does not exist.
    func hasNothingToEnd(_ operation: LinkState.Operation, _ error: DBusError) -> Bool {
        guard case .request(_, _, .setNotifying(_, false)) = operation.command else { return false }
        return error.message == "No notify session started"
    }

    /// Ends all subscriptions of a link.
    ///
    /// BlueZ pitfall: a subscription of `StartNotify` belongs to the D-Bus client and outlives the link; at the next
    /// connection it would exist without a request (https://github.com/hbldh/bleak/issues/472).
    mutating func stopNotifying(_ link: CopyOnWrite<LinkState>) {
        for (path, subscription) in link.subscriptions.sorted(by: { $0.key < $1.key }) { end(subscription, to: path) }
    }

    /// Ends the subscriptions of a link that have lost their last manager.
    mutating func endIdleSubscriptions(_ peer: PeerID) {
        guard let link = links[peer] else { return }
        for (path, subscription) in link.subscriptions.sorted(by: { $0.key < $1.key })
        where ledger.subscribers(of: subscription.attribute, at: peer).isEmpty {
            links[peer]?.subscriptions[path] = nil
            end(subscription, to: path)
        }
    }

    private mutating func end(_ subscription: LinkState.Subscription, to path: ObjectPath) {
        switch subscription.source {
        case .signals where objects.characteristics[path] != nil:
            call(.cleanup, path, GattCharacteristic1.interface, "StopNotify", deadline: timings.attribute)
        case .socket(let socket): release(socket, of: path)
        case .signals, .acquiring, .closedSocket: break
        }
    }

    // MARK: Values

    mutating func valueChanged(_ path: ObjectPath, of device: ObjectPath, _ value: Data) {
        guard let peer = directory.peer(at: device), let link = links.index(forKey: peer) else { return }
        // BlueZ pitfall: a read is signaled as a change of the value too (https://github.com/hbldh/bleak/issues/1856).
        // The signal arrives just before the reply, so only the last value may be the result of the read.
        guard links.values[link].read?.path == path else { return deliverSignal(value, of: path, of: peer) }
        let before = links.values[link].read?.value
        links.values[link].read?.value = value
        if let before { deliverSignal(before, of: path, of: peer) }
    }

    /// Delivers a value from the bus, unless notifications use a socket: then another program has read the value.
    private mutating func deliverSignal(_ value: Data, of path: ObjectPath, of peer: PeerID) {
        guard let subscription = links[peer]?.subscriptions[path], subscription.source == .signals else { return }
        deliver([value], of: subscription.attribute, of: peer)
    }

    private mutating func deliver(_ values: [Data], of attribute: AttributeID, of peer: PeerID) {
        let subscribers = ledger.subscribers(of: attribute, at: peer)
        for value in values {
            for (manager, link) in subscribers {
                deliver(manager, .valueNotified(link: link, attribute: attribute, value: value))
            }
        }
    }

    mutating func endReading(_ peer: PeerID, echo: Data?) {
        guard let read = links[peer]?.read else { return }
        links[peer]?.read = nil
        if let value = read.value, value != echo { deliverSignal(value, of: read.path, of: peer) }
    }

    // MARK: Sockets

    /// Handles the reply of `AcquireNotify`.
    ///
    /// If the daemon provides no socket, because another program is subscribed or the method is not supported, the
    /// subscription is made over `StartNotify`.
    ///
    /// - Returns: Whether the reply belongs to `AcquireNotify` and is not an error of the subscription itself.
    mutating func acquiredNotifications(
        _ peer: PeerID, _ operation: LinkState.Operation, _ result: Result<[DBusValue], DBusError>
    ) -> Bool {
        guard case .request(_, _, .setNotifying(let attribute, true)) = operation.command,
            let path = links[peer]?.attributes.path(of: attribute),
            links[peer]?.subscriptions[path]?.source == .acquiring
        else { return false }
        switch result {
        case .success(let body):
            if adopt(body, for: path, of: peer) {
                respond(operation, .notifying(true))
                return true
            }
        case .failure(let error):
            guard Self.refusesSocket(error) else { return false }
            // The daemon may receive the call before it notices the end of the socket that was given back.
            if error.message == "Notify acquired", operation.retries < timings.attributeRetries,
                links[peer]?.releasedSockets.contains(path) == true
            {
                retry(peer, operation)
                return true
            }
            log(.debug, "AcquireNotify of \(path): \(error)")
        }
        undoNotifying(peer, operation)
        var overBus = operation
        overBus.needsSignals = true
        links[peer]?.waiting.prepend(overBus)
        return true
    }

    private static func refusesSocket(_ error: DBusError) -> Bool {
        let names = ["InProgress", "NotPermitted", "NotSupported"].map { "org.bluez.Error.\($0)" }
        return names.contains(error.name) || error.name == DBusError.Name.unknownMethod
    }

    /// Takes over the socket in a reply of `AcquireNotify`, if the reply contains one.
    private mutating func adopt(_ body: [DBusValue], for path: ObjectPath, of peer: PeerID) -> Bool {
        guard let socket = body.first?.descriptorValue?.release() else { return false }
        let id = LinkSocketID(number: outputs.newNumber(), peer: peer)
        links[peer]?.releasedSockets.remove(path)
        links[peer]?.subscriptions[path]?.source = .socket(id)
        perform(.adopt(socket), onNotificationSocket: id)
        return true
    }

    private mutating func release(_ socket: LinkSocketID, of path: ObjectPath) {
        perform(.close, onNotificationSocket: socket)
        links[socket.peer]?.releasedSockets.insert(path)
    }

    mutating func handleNotificationSocket(_ socket: LinkSocketID, _ event: NotificationSockets.Event) {
        let peer = socket.peer
        guard let (path, subscription) = links[peer]?.subscriptions.first(where: { $0.value.socket == socket }) else {
            return
        }
        switch event {
        case .values(let values): deliver(values, of: subscription.attribute, of: peer)
        case .closed:
            links[peer]?.subscriptions[path]?.source = .closedSocket
            if links[peer]?.ending.isDown == true { return explainLinkDown(peer) }
            start(.closedSockets(peer), timings.linkLoss)
        }
    }

    /// Replaces the sockets that the daemon has closed on a link that has not ended.
    mutating func replaceClosedSockets(_ peer: PeerID) {
        guard let link = links[peer], !link.ending.isDown, !link.ending.isClosing else { return }
        for (path, subscription) in link.subscriptions.sorted(by: { $0.key < $1.key })
        where subscription.source == .closedSocket {
            log(.warning, "bluetoothd has closed its socket for notifications of \(path): the bus is used instead")
            subscribe(to: path, subscription.attribute, of: peer, by: .startNotify)
        }
    }

    // MARK: Without an operation

    /// Subscribes to a characteristic whose subscription exists already from the app's view.
    mutating func subscribe(
        to path: ObjectPath, _ attribute: AttributeID, of peer: PeerID, by method: BlueZConfiguration.NotificationMethod
    ) {
        links[peer]?.subscriptions[path] = LinkState.Subscription(attribute: attribute, source: method.source)
        call(
            .resubscription(peer, path, method), path, GattCharacteristic1.interface, method.member, method.arguments,
            deadline: timings.attribute)
    }

    mutating func resubscribed(
        _ peer: PeerID, _ path: ObjectPath, _ method: BlueZConfiguration.NotificationMethod,
        _ result: Result<[DBusValue], DBusError>
    ) {
        guard let subscription = links[peer]?.subscriptions[path] else { return }
        if method == .acquireNotify {
            guard subscription.source == .acquiring else { return }
            if case .success(let body) = result, adopt(body, for: path, of: peer) { return }
            if result.failure.map(Self.refusesSocket) ?? true {
                return subscribe(to: path, subscription.attribute, of: peer, by: .startNotify)
            }
        }
        guard let error = result.failure else { return }
        log(.warning, "the subscription to \(path) could not be restored: \(error)")
        links[peer]?.subscriptions[path] = nil
        let attribute = subscription.attribute
        let reported = ErrorMap.subscription(error, isPaired: isPaired(peer))
        for (manager, link) in ledger.subscribers(of: attribute, at: peer) {
            _ = ledger.setSubscribed(manager, to: attribute, of: peer, false)
            deliver(manager, .subscriptionEnded(link: link, attribute: attribute, error: reported))
        }
    }
}

extension BlueZConfiguration.NotificationMethod {
    /// The method of `org.bluez.GattCharacteristic1` that subscribes.
    fileprivate var member: String {
        switch self {
        case .startNotify: "StartNotify"
        case .acquireNotify: "AcquireNotify"
        }
    }

    fileprivate var arguments: [DBusValue] {
        switch self {
        case .startNotify: []
        case .acquireNotify: [.properties([:])]
        }
    }

    /// The source of the values after the call.
    fileprivate var source: LinkState.Subscription.Source {
        switch self {
        case .startNotify: .signals
        case .acquireNotify: .acquiring
        }
    }
}
#endif
