#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues
import FoundationEssentials

/// Subscribers, and the values that they receive.
extension PeripheralRoleMachine {
    // MARK: Calls of the daemon

    /// Handles a subscription that names its central.
    mutating func acquire(
        _ call: IncomingCall, _ characteristic: ServiceDefinition.Characteristic, of manager: HostLedger.Manager
    ) {
        let options = call.arguments.first?.propertiesValue ?? [:]
        guard let peer = central(options), state == .poweredOn else {
            return refuse(call, "org.bluez.Error.Failed", "no such central")
        }
        confirmLeaving(peer)
        let mtu = noteMTU(options, of: peer)
        // BlueZ pitfall: before 5.76 a socket's values reach every subscriber, and before 5.69 only the first
        // subscriber is announced (https://github.com/bluez/bluez/issues/820,
        // https://github.com/bluez/bluez/issues/1106). After this refusal BlueZ still names each subscriber, and uses
        // `StartNotify`.
        let isUnicast = adapter?.hasUnicastSockets == true && objects.passesDescriptors
        let socket = SocketID(number: outputs.newNumber())
        if isUnicast {
            perform(.open(socket, call.number, mtu: UInt16(mtu)))
        } else {
            refuse(call, "org.bluez.Error.NotSupported", "values are broadcast")
        }
        subscribe(peer, to: call.path, characteristic.id, of: manager, isUnicast ? .socket(socket) : .broadcast)
    }

    /// Handles a subscription after `AcquireNotify`, which has named the subscriber.
    mutating func startNotify(
        _ call: IncomingCall, _ characteristic: ServiceDefinition.Characteristic, of manager: HostLedger.Manager
    ) {
        perform(.answer(call.number, []))
        guard state == .poweredOn, subscriptions.subscribers(of: call.path).isEmpty else { return }
        // An old daemon does not name the central. With a single link it is known.
        let devices = objects.devices.filter { $0.value.isConnected && isOurs($0.key) }.keys
        let connected = Set(devices.compactMap(directory.peer)).union(centrals.expected.values)
        guard let peer = connected.first, connected.count == 1 else {
            return log(.warning, "BlueZ does not say who subscribes to \(characteristic.uuid): no manager is notified")
        }
        subscribe(peer, to: call.path, characteristic.id, of: manager, .broadcast)
    }

    /// Handles that the last subscriber without a socket is gone.
    mutating func stopNotify(
        _ call: IncomingCall, _ characteristic: ServiceDefinition.Characteristic, of manager: HostLedger.Manager
    ) {
        perform(.answer(call.number, []))
        for peer in subscriptions.subscribers(of: call.path) where !subscriptions.hasSocket(peer, on: call.path) {
            centralMayHaveUnsubscribed(peer, from: call.path)
        }
    }

    // MARK: Subscriptions

    private mutating func subscribe(
        _ peer: PeerID, to path: ObjectPath, _ attribute: AttributeID, of manager: HostLedger.Manager,
        _ way: Subscriptions.Way
    ) {
        let (isNew, old) = subscriptions.add(peer, to: path, way)
        if let old { close(old) }
        guard isNew else { return }
        let isFirst = managers[manager]?.sessions[peer] == nil
        if isFirst {
            let session = CreditLedger.Session(manager: manager, peer: peer, number: outputs.newNumber())
            managers[manager]?.sessions[peer] = session
        }
        deliver(
            manager,
            .subscribed(
                central: peer, attribute: attribute, mtu: centrals.mtus[peer] ?? ATTLimits.minimumMTU,
                notifyCredits: isFirst ? CreditLedger.limit : 0))
    }

    private mutating func unsubscribe(_ peer: PeerID, from path: ObjectPath, of manager: HostLedger.Manager) {
        let (wasThere, socket) = subscriptions.remove(peer, from: path)
        if let socket { close(socket) }
        if wasThere { reportUnsubscribed(peer, from: path, of: manager) }
    }

    private mutating func reportUnsubscribed(_ peer: PeerID, from path: ObjectPath, of manager: HostLedger.Manager) {
        let own = self.path(of: manager)
        if !subscriptions.paths(of: peer).contains(where: { $0.isBelow(own) }) {
            managers[manager]?.sessions[peer] = nil
        }
        guard let id = managers[manager]?.applications.characteristic(at: path)?.id else { return }
        deliver(manager, .unsubscribed(central: peer, attribute: id))
    }

    /// Ends the subscriptions below a path that is no longer published; the facade knows their subscribers.
    mutating func endSubscriptions(below path: ObjectPath, of manager: HostLedger.Manager, isReported: Bool) {
        let own = self.path(of: manager)
        for peer in managers[manager]?.sessions.keys.map({ $0 }) ?? [] {
            for gone in subscriptions.paths(of: peer) where gone.isBelow(path) {
                let (_, socket) = subscriptions.remove(peer, from: gone)
                if let socket { close(socket) }
                if isReported { reportUnsubscribed(peer, from: gone, of: manager) }
            }
            if !subscriptions.paths(of: peer).contains(where: { $0.isBelow(own) }) {
                managers[manager]?.sessions[peer] = nil
            }
        }
        for socket in subscriptions.removeAll(below: path) { close(socket) }
    }

    // MARK: Links

    /// Handles a new link of a central; BlueZ restores the subscriptions of a bonded one without reporting them.
    mutating func centralConnected(_ peer: PeerID) {
        confirmLeaving(peer)
        continueAdvertising()
        for path in subscriptions.centralConnected(peer) {
            guard let manager = manager(of: path),
                let id = managers[manager]?.applications.characteristic(at: path)?.id
            else { continue }
            subscribe(peer, to: path, id, of: manager, .broadcast)
        }
    }

    private var waitForExplanation: Duration { watch.waitForExplanation(objects.adapters, usually: timings.quiescence) }

    /// Begins to wait after the end of a link, which may be the first sign of a loss of power.
    mutating func centralMayHaveLeft(_ peer: PeerID, isBonded: Bool) {
        centrals.leaving[peer, default: Centrals.Leaving()].isGone = true
        centrals.leaving[peer]?.isBonded = isBonded
        start(.leaving(peer), waitForExplanation)
    }

    private mutating func centralMayHaveUnsubscribed(_ peer: PeerID, from path: ObjectPath) {
        centrals.leaving[peer, default: Centrals.Leaving()].paths.insert(path)
        start(.leaving(peer), waitForExplanation)
    }

    /// Reports what has ended, because the wait is over or the central has made a new call.
    mutating func confirmLeaving(_ peer: PeerID) {
        guard let leaving = centrals.leaving.removeValue(forKey: peer) else { return }
        stop(.leaving(peer))
        guard leaving.isGone else {
            for path in leaving.paths.sorted() {
                if let manager = manager(of: path) { unsubscribe(peer, from: path, of: manager) }
            }
            return
        }
        centrals.mtus[peer] = nil
        expireRequests { $0.peer == peer }
        for path in endSubscriptions(of: peer, isBonded: leaving.isBonded) {
            if let manager = manager(of: path) { reportUnsubscribed(peer, from: path, of: manager) }
        }
    }

    /// - Returns: The characteristics that the central was subscribed to.
    @discardableResult
    mutating func endSubscriptions(of peer: PeerID, isBonded: Bool) -> [ObjectPath] {
        let (ended, unclear) = subscriptions.left(peer, isBonded: isBonded)
        for path in unclear { start(.quiescence(path), waitForExplanation) }
        return ended
    }

    mutating func settle(_ path: ObjectPath) {
        // A link that ended meanwhile is part of the explanation, although its own wait began later.
        for peer in subscriptions.subscribers(of: path) where centrals.leaving[peer]?.isGone == true {
            confirmLeaving(peer)
        }
        stop(.quiescence(path))
        let settlement = subscriptions.settle(path)
        for socket in settlement.sockets { close(socket) }
        guard let manager = manager(of: path) else { return }
        for peer in settlement.ended { reportUnsubscribed(peer, from: path, of: manager) }
    }

    mutating func handle(_ event: WriteSocket.Event, of socket: SocketID) {
        switch event {
        case .sent(let count):
            guard let (path, peer) = subscriptions.owner(of: socket), let manager = manager(of: path),
                managers[manager]?.sessions[peer] != nil
            else { return }
            credits.sent(count, on: socket)
            deliver(manager, .notifyCredits(central: peer, count: count))
        case .drained: break
        case .closed:
            returnCredits(of: socket)
            switch subscriptions.closed(socket) {
            case .ended(let peer, let path): centralMayHaveUnsubscribed(peer, from: path)
            case .unclear(let path): start(.quiescence(path), waitForExplanation)
            case .unknown: break
            }
        }
    }

    private mutating func close(_ socket: SocketID) {
        perform(.close(socket))
        returnCredits(of: socket)
    }

    /// Returns the credits of a closed socket's unsent values, which are lost, while the central has other
    /// subscriptions.
    private mutating func returnCredits(of socket: SocketID) {
        returnCredits(credits.close(socket))
    }

    private mutating func returnCredits(_ sessions: [CreditLedger.Session: Int]) {
        for (session, count) in sessions.sorted(by: { $0.key.number < $1.key.number })
        where managers[session.manager]?.sessions[session.peer] == session {
            deliver(session.manager, .notifyCredits(central: session.peer, count: count))
        }
    }

    // MARK: Values

    mutating func update(
        _ manager: HostLedger.Manager, _ attribute: AttributeID, _ value: Data, _ centrals: [PeerID]?
    ) {
        guard let path = managers[manager]?.applications.path(of: attribute) else { return }
        let subscribers = subscriptions.subscribers(of: path)
        let targets = (centrals ?? Array(subscribers)).filter(subscribers.contains)
        // A central that has unsubscribed meanwhile receives nothing, and the manager gets its credit back.
        let gone = (centrals ?? []).filter { !subscribers.contains($0) }
        for peer in gone { if let session = managers[manager]?.sessions[peer] { returnCredits([session: 1]) } }
        guard !targets.isEmpty else { return }
        // The daemon would take an empty packet for the end of the socket.
        if !value.isEmpty, let sockets = subscriptions.sockets(of: path, for: targets) {
            for socket in sockets {
                if let peer = subscriptions.owner(of: socket)?.peer, let session = managers[manager]?.sessions[peer] {
                    credits.send(on: socket, for: session)
                }
                perform(.send(socket, value))
            }
            return
        }
        if targets.count < subscribers.count, subscriptions.warned.insert(path).inserted {
            log(
                .warning,
                "BlueZ sends values of characteristic \(path.lastElement) to all its subscribers, not to some alone")
        }
        perform(.broadcast(path, value))
        for peer in targets {
            if let session = managers[manager]?.sessions[peer] { credits.broadcast(for: session) }
        }
    }

    /// Makes a round trip to the daemon, if values were broadcast since the last one.
    ///
    /// BlueZ does not report when a broadcast value is sent. The reply shows at least that the daemon has accepted it,
    /// because messages keep their order.
    mutating func roundTrip() {
        guard state == .poweredOn, let sessions = credits.beginRoundTrip() else { return }
        call(.roundTrip(sessions), .root, "org.freedesktop.DBus.Peer", "Ping", deadline: timings.registration)
    }

    mutating func roundTripCompleted(_ sessions: [CreditLedger.Session: Int]) {
        credits.endRoundTrip()
        returnCredits(sessions)
    }
}
#endif
