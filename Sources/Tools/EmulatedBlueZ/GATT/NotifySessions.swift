#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

// Notifications and indications: sessions of StartNotify, and the sockets of AcquireNotify and AcquireWrite.
extension RemoteDatabase.Characteristic {
    // MARK: Sessions

    mutating func startNotify(
        _ call: ClientCall, on link: inout DaemonLink?, _ context: inout DaemonContext
    ) throws(DBusError) {
        guard notifySocket == nil, !isAcquiring else { throw BlueZError.notPermitted("Notify acquired") }
        guard canNotify else { throw BlueZError.notSupported }
        if sessions.contains(call.sender) || starting.contains(where: { $0.sender == call.sender }) {
            guard isArmed(on: link) else { throw BlueZError.busy }
            return context.answer(call.id)
        }
        guard link != nil else {
            // The session waits for the next link.
            sessions.append(call.sender)
            return context.answer(call.id)
        }
        if isSubscribed {
            beginSession(call.sender, on: link, &context)
            return context.answer(call.id)
        }
        starting.append((call.id, call.sender))
        if starting.count == 1 { subscribe(on: &link, &context) }
    }

    /// Whether the sessions are registered on the present link, which `bluetoothd` does as soon as it knows the
    /// services.
    private func isArmed(on link: DaemonLink?) -> Bool { isSubscribed || link.map { $0.discovery == nil } == true }

    private func subscribe(on link: inout DaemonLink?, _ context: inout DaemonContext) {
        link?.send(.setNotifying(id, true), for: .subscribe(id), &context)
    }

    mutating func subscribed(_ response: LinkResponse, on link: inout DaemonLink?, _ context: inout DaemonContext) {
        let waiting = exchange(&starting, with: [])
        if case .failure(let error) = response {
            for (call, _) in waiting { context.refuse(call, BlueZError.attribute(error)) }
            // A device that refuses a subscription ends the sessions of earlier links; the end of a link does not.
            guard link != nil else { return }
            sessions = []
            return showNotifying(on: link, &context)
        }
        isSubscribed = true
        showNotifying(on: link, &context)
        for (call, sender) in waiting {
            beginSession(sender, on: link, &context)
            context.answer(call)
        }
        // The clients that asked for it may have left the bus.
        if sessions.isEmpty { unsubscribe(on: &link, &context) }
    }

    private mutating func beginSession(_ client: String, on link: DaemonLink?, _ context: inout DaemonContext) {
        sessions.append(client)
        showNotifying(on: link, &context)
    }

    private func showNotifying(on link: DaemonLink?, _ context: inout DaemonContext) {
        let isNotifying = !sessions.isEmpty && isArmed(on: link) || notifySocket != nil
        context.set("Notifying", .boolean(isNotifying), of: BlueZInterfaces.characteristic, at: path)
    }

    mutating func stopNotify(
        _ call: ClientCall, on link: inout DaemonLink?, _ context: inout DaemonContext
    ) throws(DBusError) {
        if let notifySocket {
            // The socket may belong to any client.
            close(notifySocket, on: &link, &context)
        } else if !endSession(call.sender, on: &link, &context) {
            throw BlueZError.failed("No notify session started")
        }
        context.answer(call.id)
    }

    /// Ends the session of a client that left the bus, and its calls that wait for one.
    mutating func forget(_ client: String, on link: inout DaemonLink?, _ context: inout DaemonContext) {
        for (call, sender) in starting where sender == client {
            starting.removeAll { $0.call == call }
            context.refuse(call, BlueZError.failed("Operation failed"))
        }
        _ = endSession(client, on: &link, &context)
    }

    /// Ends a client's session; the last one ends the subscription.
    ///
    /// - Returns: Whether the client had a session.
    private mutating func endSession(
        _ client: String, on link: inout DaemonLink?, _ context: inout DaemonContext
    ) -> Bool {
        guard sessions.contains(client) else { return false }
        sessions.removeAll { $0 == client }
        if sessions.isEmpty { unsubscribe(on: &link, &context) }
        showNotifying(on: link, &context)
        return true
    }

    private mutating func unsubscribe(on link: inout DaemonLink?, _ context: inout DaemonContext) {
        // The daemon itself listens to the battery.
        guard isSubscribed, record.uuid != Battery.level else { return }
        isSubscribed = false
        link?.send(.setNotifying(id, false), for: .unsubscribe, &context)
    }

    /// Subscribes again after a connect, for the sessions that outlived the last link.
    func resumeSubscription(on link: inout DaemonLink?, _ context: inout DaemonContext) {
        if !sessions.isEmpty, !isSubscribed, starting.isEmpty { subscribe(on: &link, &context) }
    }

    // MARK: Values

    /// Delivers a value: as its own signal, at once, or as one packet of a socket.
    ///
    /// The value may arrive before the device confirms the subscription. The socket exists only after that, and
    /// `bluetoothd` drops earlier values for it.
    func notified(_ value: Data, _ context: inout DaemonContext) {
        if let notifySocket {
            context.output(.send(notifySocket, value))
        } else if !sessions.isEmpty || !starting.isEmpty {
            context.set(
                "Value", .bytes(Array(value)), of: BlueZInterfaces.characteristic, at: path, isRepeated: true)
            context.flush()
        }
    }

    // MARK: Sockets

    mutating func acquireNotify(
        _ call: ClientCall, on link: inout DaemonLink?, _ context: inout DaemonContext
    ) throws(DBusError) {
        guard link != nil else { throw BlueZError.failed("Not connected") }
        guard notifySocket == nil, !isAcquiring else { throw BlueZError.notPermitted("Notify acquired") }
        guard sessions.isEmpty, starting.isEmpty else { throw BlueZError.busy }
        let isOffered =
            properties.contains(.notify) || (context.dialect >= .bluez5_82 && properties.contains(.indicate))
        guard isOffered else { throw BlueZError.notSupported }
        isAcquiring = true
        link?.send(.setNotifying(id, true), for: .acquireNotify(id, call.id, sender: call.sender), &context)
    }

    mutating func notifyAcquired(
        _ response: LinkResponse, _ call: ClientCallID, _ sender: String, on link: DaemonLink?,
        _ context: inout DaemonContext
    ) {
        isAcquiring = false
        guard let link else { return context.refuse(call, BlueZError.failed("Not connected")) }
        if case .failure(let error) = response { return context.refuse(call, BlueZError.attribute(error)) }
        let socket = context.addSocket(.notifying(adapter: link.adapter, link.peer, id, client: sender))
        isSubscribed = true
        notifySocket = socket
        context.set("NotifyAcquired", .boolean(true), of: BlueZInterfaces.characteristic, at: path)
        showNotifying(on: link, &context)
        context.flush()
        context.output(.answerWithSocket(call, socket, mtu: link.mtu))
    }

    mutating func acquireWrite(
        _ call: ClientCall, on link: DaemonLink?, _ context: inout DaemonContext
    ) throws(DBusError) {
        guard let link else { throw BlueZError.failed("Not connected") }
        guard writeSocket == nil else { throw BlueZError.notPermitted("Write acquired") }
        guard properties.contains(.writeWithoutResponse) else { throw BlueZError.notSupported }
        let socket = context.addSocket(.writing(adapter: link.adapter, link.peer, id, client: call.sender))
        writeSocket = socket
        context.set("WriteAcquired", .boolean(true), of: BlueZInterfaces.characteristic, at: path)
        context.flush()
        context.output(.answerWithSocket(call.id, socket, mtu: link.mtu))
    }

    /// Closes the sockets of a characteristic that is removed, or whose link ended.
    mutating func closeSockets(on link: inout DaemonLink?, _ context: inout DaemonContext) {
        for socket in [notifySocket, writeSocket].compactMap(\.self) { close(socket, on: &link, &context) }
    }

    private mutating func close(_ socket: ClientSocketID, on link: inout DaemonLink?, _ context: inout DaemonContext) {
        context.close(socket)
        socketClosed(socket, on: &link, &context)
    }

    /// Handles the closing of a socket, by the client or with the link.
    mutating func socketClosed(_ socket: ClientSocketID, on link: inout DaemonLink?, _ context: inout DaemonContext) {
        if notifySocket == socket {
            notifySocket = nil
            unsubscribe(on: &link, &context)
            context.set("NotifyAcquired", .boolean(false), of: BlueZInterfaces.characteristic, at: path)
            showNotifying(on: link, &context)
        } else if writeSocket == socket {
            writeSocket = nil
            context.set("WriteAcquired", .boolean(false), of: BlueZInterfaces.characteristic, at: path)
        }
    }
}
#endif
