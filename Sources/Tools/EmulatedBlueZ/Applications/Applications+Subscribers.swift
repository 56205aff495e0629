#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import BluetoothValues
import DequeModule

// Centrals that subscribe to the clients' characteristics, and the values that are sent to them.
extension Applications {
    /// A central with subscriptions.
    struct Subscriber: Sendable {
        var mtu: Int
        var credits: Int
        var waiting = Deque<(attribute: AttributeID, value: Data)>()
        /// The values that the controller has accepted and not yet sent, oldest first.
        var sent = Deque<AttributeID>()

        mutating func subscribed(mtu: Int, credits: Int) {
            self.mtu = mtu
            self.credits += credits
        }

        /// Queues a value, truncated to what the link carries.
        ///
        /// - Returns: Whether the queue has room for it.
        mutating func add(_ value: Data, of attribute: AttributeID) -> Bool {
            guard waiting.count < DaemonLimits.queuedValues else { return false }
            waiting.append((attribute, value.prefix(ATTLimits.written(mtu: mtu))))
            return true
        }

        /// The next value that the controller accepts.
        mutating func next() -> (AttributeID, Data)? {
            guard credits > 0, let (attribute, value) = waiting.popFirst() else { return nil }
            credits -= 1
            sent.append(attribute)
            return (attribute, value)
        }
    }

    // MARK: Subscriptions

    /// - Parameter options: The options of a call for the central.
    mutating func subscribed(
        _ central: PeerID, _ id: AttributeID, mtu: Int, credits: Int, _ options: [String: DBusValue],
        _ context: inout DaemonContext
    ) {
        guard let found = characteristics[id] else { return }
        subscribers[central, default: Subscriber(mtu: mtu, credits: 0)].subscribed(mtu: mtu, credits: credits)
        guard !found.subscribers.contains(central) else { return }
        characteristics[id]?.subscribers.append(central)
        // Before 5.69 one socket serves all subscribers of a characteristic.
        let hasSocket = context.dialect < .bluez5_82 && !found.sockets.isEmpty
        guard found.acquiresNotify, !hasSocket else {
            if !found.acquiresNotify { startServing(id, &context) }
            return
        }
        context.request(
            .acquireNotify(adapter: adapter, id, central: central), of: found.object, BlueZInterfaces.characteristic,
            "AcquireNotify", [.properties(options)])
    }

    /// Calls the client's `StartNotify`, after which the client notifies by its property `Value`.
    ///
    /// Each subscription repeats the call.
    private mutating func startServing(_ id: AttributeID, _ context: inout DaemonContext) {
        guard let found = characteristics[id] else { return }
        characteristics[id]?.isStarted = true
        context.request(.ignored, of: found.object, BlueZInterfaces.characteristic, "StartNotify")
    }

    /// Handles the reply to `AcquireNotify`.
    ///
    /// A client that gives no socket is started with `StartNotify` instead, unless it failed or did not answer; the
    /// central then receives no values.
    ///
    /// Source: BlueZ, `src/gatt-database.c`, `acquire_notify_reply`.
    mutating func acquireNotifyAnswered(
        _ id: AttributeID, _ central: PeerID, _ result: Result<[DBusValue], DBusError>, _ context: inout DaemonContext
    ) {
        guard let found = characteristics[id], found.subscribers.contains(central) else { return }
        switch result {
        case .success(let values):
            guard let descriptor = values.first?.descriptorValue else { return startServing(id, &context) }
            let socket = context.addSocket(
                .serving(adapter: adapter, id, central: central, client: found.object.client))
            characteristics[id]?.sockets[central] = socket
            context.output(.adopt(socket, descriptor))
        case .failure(let error):
            let names = [BlueZError.failed("").name, DBusError.Name.noReply]
            if !names.contains(error.name) { startServing(id, &context) }
        }
    }

    mutating func unsubscribed(_ central: PeerID, _ id: AttributeID, _ context: inout DaemonContext) {
        guard let found = characteristics[id] else { return }
        characteristics[id]?.subscribers.removeAll { $0 == central }
        subscriptionEnded(id, of: central)
        if let socket = found.sockets[central] {
            characteristics[id]?.sockets[central] = nil
            context.close(socket)
        }
        let isLast = found.subscribers == [central]
        if isLast, found.isStarted {
            characteristics[id]?.isStarted = false
            context.request(.ignored, of: found.object, BlueZInterfaces.characteristic, "StopNotify")
        }
    }

    /// Ends the subscription of a central to a characteristic; its credits end with the last subscription.
    mutating func subscriptionEnded(_ id: AttributeID, of central: PeerID) {
        subscribers[central]?.waiting.removeAll { $0.attribute == id }
        let hasOthers = characteristics.values.contains { $0.subscribers.contains(central) }
        if !hasOthers { subscribers[central] = nil }
    }

    /// Ends all subscriptions, because the adapter is switched off.
    mutating func endSubscriptions(_ context: inout DaemonContext) {
        for (id, characteristic) in characteristics.sorted(by: { $0.key < $1.key }) {
            for central in characteristic.subscribers { unsubscribed(central, id, &context) }
        }
    }

    /// Removes a socket that the client closed; its central stays subscribed and receives no values.
    mutating func socketClosed(_ id: AttributeID, _ central: PeerID) {
        characteristics[id]?.sockets[central] = nil
    }

    // MARK: Values

    /// Sends a changed property `Value` of a client's characteristic to all subscribers.
    mutating func valueChanged(_ value: Data, of object: ClientObject, _ context: inout DaemonContext) {
        if let id = objects[object] { sendToAll(value, id, &context) }
    }

    /// Sends a value that a client wrote to a socket; before 5.76 it goes to all subscribers.
    mutating func received(_ value: Data, for id: AttributeID, to central: PeerID, _ context: inout DaemonContext) {
        guard context.dialect < .bluez5_82 else { return send(value, id, to: central, &context) }
        sendToAll(value, id, &context)
    }

    private mutating func sendToAll(_ value: Data, _ id: AttributeID, _ context: inout DaemonContext) {
        for central in characteristics[id]?.subscribers ?? [] { send(value, id, to: central, &context) }
    }

    /// Sends a value, truncated to what the link carries, or queues it until the controller accepts it.
    private mutating func send(_ value: Data, _ id: AttributeID, to central: PeerID, _ context: inout DaemonContext) {
        guard subscribers[central]?.add(value, of: id) == true else { return }
        sendWaiting(to: central, &context)
    }

    private mutating func sendWaiting(to central: PeerID, _ context: inout DaemonContext) {
        while let (id, value) = subscribers[central]?.next() {
            context.output(
                .peripheral(adapter: adapter, .updateValue(attribute: id, value: value, centrals: [central])))
        }
    }

    /// Handles values that were sent, or confirmed if they were indications.
    mutating func valuesSent(_ count: Int, to central: PeerID, _ context: inout DaemonContext) {
        for _ in 0..<count {
            guard let id = subscribers[central]?.sent.popFirst(),
                let found = characteristics[id],
                found.properties.contains(.indicate), !found.properties.contains(.notify)
            else { continue }
            context.request(.ignored, of: found.object, BlueZInterfaces.characteristic, "Confirm")
        }
        subscribers[central]?.credits += count
        sendWaiting(to: central, &context)
    }
}
#endif
