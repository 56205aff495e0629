#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import BluetoothValues
import DequeModule

// Centrals that subscribe to the clients' characteristics, and the values that are sent to them.
extension BluetoothDaemon {
    // MARK: Subscriptions

    mutating func subscribed(_ central: PeerID, _ id: AttributeID, mtu: Int, credits: Int, on index: Int) {
        guard let found = adapters[index].applications.characteristics[id] else { return }
        var subscriber =
            adapters[index].applications.subscribers[central] ?? Applications.Subscriber(mtu: mtu, credits: 0)
        subscriber.mtu = mtu
        subscriber.credits += credits
        adapters[index].applications.subscribers[central] = subscriber
        guard !found.subscribers.contains(central) else { return }
        adapters[index].applications.characteristics[id]?.subscribers.append(central)
        // Before 5.69 one socket serves all subscribers of a characteristic.
        let hasSocket = dialect < .bluez5_82 && !found.sockets.isEmpty
        guard found.acquiresNotify, !hasSocket else {
            if !found.acquiresNotify { startServing(id, on: index) }
            return
        }
        var options: [String: DBusValue] = ["link": .string("LE"), "mtu": .uint16(UInt16(clamping: mtu))]
        if let path = adapters[index].devices[central]?.path { options["device"] = .objectPath(path) }
        request(
            .acquireNotify(adapter: index, id, central: central), of: found.owner.client, found.path,
            BlueZInterfaces.characteristic, "AcquireNotify", [.properties(options)],
            deadline: configuration.attributeDeadline)
    }

    /// Calls the client's `StartNotify`, after which the client notifies by its property `Value`.
    ///
    /// Each subscription repeats the call.
    private mutating func startServing(_ id: AttributeID, on index: Int) {
        guard let found = adapters[index].applications.characteristics[id] else { return }
        adapters[index].applications.characteristics[id]?.isStarted = true
        request(
            .ignored, of: found.owner.client, found.path, BlueZInterfaces.characteristic, "StartNotify",
            deadline: configuration.attributeDeadline)
    }

    /// Handles the reply to `AcquireNotify`.
    ///
    /// A client that gives no socket is started with `StartNotify` instead, unless it failed or did not answer; the
    /// central then receives no values.
    ///
    /// Source: BlueZ, `src/gatt-database.c`, `acquire_notify_reply`.
    mutating func acquireNotifyAnswered(
        _ id: AttributeID, _ central: PeerID, _ result: Result<[DBusValue], DBusError>, on index: Int
    ) {
        guard let found = adapters[index].applications.characteristics[id], found.subscribers.contains(central) else {
            return
        }
        switch result {
        case .success(let values):
            guard let descriptor = values.first?.descriptorValue else { return startServing(id, on: index) }
            let socket = ClientSocketID(rawValue: nextNumber())
            sockets[socket] = .serving(adapter: index, id, central: central, client: found.owner.client)
            adapters[index].applications.characteristics[id]?.sockets[central] = socket
            output(.adopt(socket, descriptor))
        case .failure(let error):
            let names = [BlueZError.failed("").name, DBusError.Name.noReply]
            if !names.contains(error.name) { startServing(id, on: index) }
        }
    }

    mutating func unsubscribed(_ central: PeerID, _ id: AttributeID, on index: Int) {
        guard let found = adapters[index].applications.characteristics[id] else { return }
        adapters[index].applications.characteristics[id]?.subscribers.removeAll { $0 == central }
        subscriptionEnded(id, of: central, on: index)
        if let socket = found.sockets[central] {
            adapters[index].applications.characteristics[id]?.sockets[central] = nil
            sockets[socket] = nil
            output(.close(socket))
        }
        let isLast = found.subscribers == [central]
        if isLast, found.isStarted {
            adapters[index].applications.characteristics[id]?.isStarted = false
            request(
                .ignored, of: found.owner.client, found.path, BlueZInterfaces.characteristic, "StopNotify",
                deadline: configuration.attributeDeadline)
        }
    }

    /// Ends the subscription of a central to a characteristic; its credits end with the last subscription.
    mutating func subscriptionEnded(_ id: AttributeID, of central: PeerID, on index: Int) {
        adapters[index].applications.subscribers[central]?.waiting.removeAll { $0.attribute == id }
        let hasOthers = adapters[index].applications.characteristics.values.contains {
            $0.subscribers.contains(central)
        }
        if !hasOthers { adapters[index].applications.subscribers[central] = nil }
    }

    /// Ends all subscriptions, because the adapter is switched off.
    mutating func endSubscriptions(on index: Int) {
        for (id, characteristic) in adapters[index].applications.characteristics.sorted(by: { $0.key < $1.key }) {
            for central in characteristic.subscribers { unsubscribed(central, id, on: index) }
        }
    }

    /// Removes a socket that the client closed; its central stays subscribed and receives no values.
    mutating func servingEnded(_ id: AttributeID, _ central: PeerID, on index: Int) {
        adapters[index].applications.characteristics[id]?.sockets[central] = nil
    }

    // MARK: Values

    /// Sends a changed property `Value` of a client's characteristic to all subscribers.
    mutating func valueChanged(_ value: [UInt8], _ signal: ClientSignal) {
        let object = ApplicationObject(client: signal.sender, path: signal.path)
        for index in adapters.indices {
            guard let id = adapters[index].applications.paths[object] else { continue }
            for central in adapters[index].applications.characteristics[id]?.subscribers ?? [] {
                send(Data(value), id, to: central, on: index)
            }
        }
    }

    /// Sends a value that a client wrote to a socket; before 5.76 it goes to all subscribers.
    mutating func served(_ value: Data, _ id: AttributeID, to central: PeerID, on index: Int) {
        guard dialect < .bluez5_82 else { return send(value, id, to: central, on: index) }
        for central in adapters[index].applications.characteristics[id]?.subscribers ?? [] {
            send(value, id, to: central, on: index)
        }
    }

    /// Sends a value, truncated to what the link carries, or queues it until the controller accepts it.
    private mutating func send(_ value: Data, _ id: AttributeID, to central: PeerID, on index: Int) {
        guard let subscriber = adapters[index].applications.subscribers[central],
            subscriber.waiting.count < DaemonLimits.queuedValues
        else { return }
        let cut = value.prefix(ATTLimits.written(mtu: subscriber.mtu))
        adapters[index].applications.subscribers[central]?.waiting.append((id, cut))
        sendWaiting(to: central, on: index)
    }

    private mutating func sendWaiting(to central: PeerID, on index: Int) {
        while let subscriber = adapters[index].applications.subscribers[central], subscriber.credits > 0,
            let (id, value) = adapters[index].applications.subscribers[central]?.waiting.popFirst()
        {
            adapters[index].applications.subscribers[central]?.credits -= 1
            adapters[index].applications.subscribers[central]?.sent.append(id)
            output(
                .peripheral(adapter: index, .updateValue(attribute: id, value: value, centrals: [central])))
        }
    }

    /// Handles values that were sent, or confirmed if they were indications.
    mutating func valuesSent(_ count: Int, to central: PeerID, on index: Int) {
        for _ in 0..<count {
            guard let id = adapters[index].applications.subscribers[central]?.sent.popFirst(),
                let found = adapters[index].applications.characteristics[id],
                found.properties.contains(.indicate), !found.properties.contains(.notify)
            else { continue }
            request(
                .ignored, of: found.owner.client, found.path, BlueZInterfaces.characteristic, "Confirm",
                deadline: configuration.attributeDeadline)
        }
        adapters[index].applications.subscribers[central]?.credits += count
        sendWaiting(to: central, on: index)
    }
}
#endif
