#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import BluetoothValues

// Notifications and indications: sessions of StartNotify, and the sockets of AcquireNotify and AcquireWrite.
extension BluetoothDaemon {
    // MARK: Sessions

    mutating func startNotify(
        _ id: AttributeID, _ call: ClientCall, of peer: PeerID, on index: Int
    ) throws(DBusError) {
        guard let device = adapters[index].devices[peer], let found = device.database.characteristics[id] else {
            return
        }
        guard device.connection.disconnect == nil else { throw BlueZError.notConnected }
        guard found.notifySocket == nil, !found.isAcquiring else { throw BlueZError.notPermitted("Notify acquired") }
        guard found.canNotify else { throw BlueZError.notSupported }
        if found.sessions.contains(call.sender) || found.starting.contains(where: { $0.sender == call.sender }) {
            guard device.isArmed(found) else { throw BlueZError.busy }
            return answer(call.id)
        }
        guard device.connection.link != nil else {
            // The session waits for the next link.
            adapters[index].devices[peer]?.database.characteristics[id]?.sessions.append(call.sender)
            return answer(call.id)
        }
        if found.isSubscribed {
            beginSession(call.sender, id, of: peer, on: index)
            return answer(call.id)
        }
        adapters[index].devices[peer]?.database.characteristics[id]?.starting.append((call.id, call.sender))
        if found.starting.isEmpty { send(.setNotifying(id, true), for: .subscribe(id), to: peer, on: index) }
    }

    mutating func subscribed(_ response: LinkResponse, _ id: AttributeID, of peer: PeerID, on index: Int) {
        let starting = adapters[index].devices[peer]?.database.characteristics[id]?.starting ?? []
        adapters[index].devices[peer]?.database.characteristics[id]?.starting = []
        if case .failure(let error) = response {
            for (call, _) in starting { refuse(call, BlueZError.attribute(error)) }
            // A device that refuses a subscription ends the sessions of earlier links; the end of a link does not.
            guard adapters[index].devices[peer]?.connection.link != nil else { return }
            adapters[index].devices[peer]?.database.characteristics[id]?.sessions = []
            return showNotifying(id, of: peer, on: index)
        }
        adapters[index].devices[peer]?.database.characteristics[id]?.isSubscribed = true
        showNotifying(id, of: peer, on: index)
        for (call, sender) in starting {
            beginSession(sender, id, of: peer, on: index)
            answer(call)
        }
        // The clients that asked for it may have left the bus.
        if adapters[index].devices[peer]?.database.characteristics[id]?.sessions.isEmpty == true {
            unsubscribe(id, of: peer, on: index)
        }
    }

    private mutating func beginSession(_ client: String, _ id: AttributeID, of peer: PeerID, on index: Int) {
        adapters[index].devices[peer]?.database.characteristics[id]?.sessions.append(client)
        showNotifying(id, of: peer, on: index)
    }

    private mutating func showNotifying(_ id: AttributeID, of peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer], let found = device.database.characteristics[id] else {
            return
        }
        let isNotifying = !found.sessions.isEmpty && device.isArmed(found) || found.notifySocket != nil
        set("Notifying", .boolean(isNotifying), of: BlueZInterfaces.characteristic, at: found.path)
    }

    mutating func stopNotify(
        _ id: AttributeID, _ call: ClientCall, of peer: PeerID, on index: Int
    ) throws(DBusError) {
        if let socket = adapters[index].devices[peer]?.database.characteristics[id]?.notifySocket {
            // The socket may belong to any client.
            output(.close(socket))
            closed(socket)
        } else if !endSession(call.sender, id, of: peer, on: index) {
            throw BlueZError.failed("No notify session started")
        }
        answer(call.id)
    }

    /// Ends a client's session; the last one ends the subscription.
    ///
    /// - Returns: Whether the client had a session.
    @discardableResult
    mutating func endSession(_ client: String, _ id: AttributeID, of peer: PeerID, on index: Int) -> Bool {
        let sessions = adapters[index].devices[peer]?.database.characteristics[id]?.sessions ?? []
        guard sessions.contains(client) else { return false }
        adapters[index].devices[peer]?.database.characteristics[id]?.sessions.removeAll { $0 == client }
        if sessions.count == 1 { unsubscribe(id, of: peer, on: index) }
        showNotifying(id, of: peer, on: index)
        return true
    }

    private mutating func unsubscribe(_ id: AttributeID, of peer: PeerID, on index: Int) {
        guard let found = adapters[index].devices[peer]?.database.characteristics[id], found.isSubscribed else {
            return
        }
        // The daemon itself listens to the battery.
        guard found.record.uuid != Battery.level else { return }
        adapters[index].devices[peer]?.database.characteristics[id]?.isSubscribed = false
        send(.setNotifying(id, false), for: .unsubscribe, to: peer, on: index)
    }

    /// Subscribes again after a connect, for the sessions that outlived the last link.
    mutating func resumeSubscriptions(of peer: PeerID, on index: Int) {
        guard let database = adapters[index].devices[peer]?.database else { return }
        for (id, found) in database.characteristics.sorted(by: { $0.key < $1.key })
        where !found.sessions.isEmpty && !found.isSubscribed && found.starting.isEmpty {
            send(.setNotifying(id, true), for: .subscribe(id), to: peer, on: index)
        }
    }

    // MARK: Values

    /// Delivers a value: as its own signal, at once, or as one packet of a socket.
    ///
    /// The value may arrive before the device confirms the subscription. The socket exists only after that, and
    /// `bluetoothd` drops earlier values for it.
    mutating func notified(_ value: Data, _ id: AttributeID, of peer: PeerID, on index: Int) {
        guard let found = adapters[index].devices[peer]?.database.characteristics[id] else { return }
        if found.record.uuid == Battery.level { showBatteryLevel(value, of: peer, on: index) }
        if let socket = found.notifySocket {
            output(.send(socket, value))
        } else if !found.sessions.isEmpty || !found.starting.isEmpty {
            set("Value", .bytes(Array(value)), of: BlueZInterfaces.characteristic, at: found.path, isRepeated: true)
            flush()
        }
    }

    // MARK: Sockets

    mutating func acquireNotify(
        _ id: AttributeID, _ call: ClientCall, of peer: PeerID, on index: Int
    ) throws(DBusError) {
        guard let device = adapters[index].devices[peer], let found = device.database.characteristics[id] else {
            return
        }
        guard device.connection.link != nil else { throw BlueZError.failed("Not connected") }
        guard found.notifySocket == nil, !found.isAcquiring else { throw BlueZError.notPermitted("Notify acquired") }
        guard found.sessions.isEmpty, found.starting.isEmpty else { throw BlueZError.busy }
        let isOffered =
            found.properties.contains(.notify) || (dialect >= .bluez5_82 && found.properties.contains(.indicate))
        guard isOffered else { throw BlueZError.notSupported }
        adapters[index].devices[peer]?.database.characteristics[id]?.isAcquiring = true
        send(
            .setNotifying(id, true), for: .acquireNotify(id, call.id, sender: call.sender), to: peer, on: index)
    }

    mutating func notifyAcquired(
        _ response: LinkResponse, _ id: AttributeID, _ call: ClientCallID, _ sender: String, of peer: PeerID,
        on index: Int
    ) {
        adapters[index].devices[peer]?.database.characteristics[id]?.isAcquiring = false
        guard let mtu = adapters[index].devices[peer]?.connection.link?.mtu,
            let path = adapters[index].devices[peer]?.database.characteristics[id]?.path
        else { return refuse(call, BlueZError.failed("Not connected")) }
        if case .failure(let error) = response { return refuse(call, BlueZError.attribute(error)) }
        let socket = ClientSocketID(rawValue: nextNumber())
        sockets[socket] = .notifying(adapter: index, peer, id, client: sender)
        adapters[index].devices[peer]?.database.characteristics[id]?.isSubscribed = true
        adapters[index].devices[peer]?.database.characteristics[id]?.notifySocket = socket
        set("NotifyAcquired", .boolean(true), of: BlueZInterfaces.characteristic, at: path)
        showNotifying(id, of: peer, on: index)
        flush()
        output(.answerWithSocket(call, socket, mtu: mtu))
    }

    mutating func acquireWrite(
        _ id: AttributeID, _ call: ClientCall, of peer: PeerID, on index: Int
    ) throws(DBusError) {
        guard let device = adapters[index].devices[peer], let found = device.database.characteristics[id] else {
            return
        }
        guard let mtu = device.connection.link?.mtu else { throw BlueZError.failed("Not connected") }
        guard found.writeSocket == nil else { throw BlueZError.notPermitted("Write acquired") }
        guard found.properties.contains(.writeWithoutResponse) else { throw BlueZError.notSupported }
        let socket = ClientSocketID(rawValue: nextNumber())
        sockets[socket] = .writing(adapter: index, peer, id, client: call.sender)
        adapters[index].devices[peer]?.database.characteristics[id]?.writeSocket = socket
        set("WriteAcquired", .boolean(true), of: BlueZInterfaces.characteristic, at: found.path)
        flush()
        output(.answerWithSocket(call.id, socket, mtu: mtu))
    }

    /// Closes the sockets of a device whose link ended.
    mutating func closeSockets(of peer: PeerID, on index: Int) {
        for id in adapters[index].devices[peer]?.database.characteristics.keys.sorted() ?? [] {
            closeSockets(of: id, peer, on: index)
        }
    }

    mutating func closeSockets(of id: AttributeID, _ peer: PeerID, on index: Int) {
        guard let found = adapters[index].devices[peer]?.database.characteristics[id] else { return }
        for socket in [found.notifySocket, found.writeSocket].compactMap({ $0 }) {
            output(.close(socket))
            closed(socket)
        }
    }

    /// Handles the closing of a socket of a remote characteristic, by the client or with the link.
    mutating func remoteSocketClosed(_ socket: ClientSocketID, _ id: AttributeID, _ peer: PeerID, on index: Int) {
        guard let found = adapters[index].devices[peer]?.database.characteristics[id] else { return }
        if found.notifySocket == socket {
            adapters[index].devices[peer]?.database.characteristics[id]?.notifySocket = nil
            unsubscribe(id, of: peer, on: index)
            set("NotifyAcquired", .boolean(false), of: BlueZInterfaces.characteristic, at: found.path)
            showNotifying(id, of: peer, on: index)
        } else if found.writeSocket == socket {
            adapters[index].devices[peer]?.database.characteristics[id]?.writeSocket = nil
            set("WriteAcquired", .boolean(false), of: BlueZInterfaces.characteristic, at: found.path)
        }
    }
}

/// The purpose of a socket.
enum SocketPurpose: Sendable {
    /// Values of a device for a client.
    case notifying(adapter: Int, PeerID, AttributeID, client: String)
    /// Write commands of a client for a device.
    case writing(adapter: Int, PeerID, AttributeID, client: String)
    /// Values of a client's own characteristic for a central.
    case serving(adapter: Int, AttributeID, central: PeerID, client: String)

    var client: String {
        switch self {
        case .notifying(_, _, _, let client), .writing(_, _, _, let client), .serving(_, _, _, let client): client
        }
    }
}

extension BluetoothDaemon {
    mutating func received(_ data: Data, on socket: ClientSocketID) {
        switch sockets[socket] {
        case .writing(let index, let peer, let id, _)?:
            guard let mtu = adapters[index].devices[peer]?.connection.link?.mtu else { return }
            _ = enqueue(data.prefix(ATTLimits.written(mtu: mtu)), id, to: peer, on: index)
        case .serving(let index, let id, let central, _)?: served(data, id, to: central, on: index)
        case .notifying?, nil: break
        }
    }

    mutating func closed(_ socket: ClientSocketID) {
        switch sockets.removeValue(forKey: socket) {
        case .notifying(let index, let peer, let id, _)?, .writing(let index, let peer, let id, _)?:
            remoteSocketClosed(socket, id, peer, on: index)
        case .serving(let index, let id, let central, _)?: servingEnded(id, central, on: index)
        case nil: break
        }
    }
}
#endif
