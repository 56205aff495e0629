#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The centrals that subscribe to each published characteristic, and the ways by which values reach them.
///
/// Pure.
///
/// From BlueZ 5.79 on each subscription has a socket, and both end together. Before, and if a socket has failed, values
/// are broadcast to all subscribers, as changes of `Value`.
///
/// BlueZ pitfall: when an unbonded central disconnects, BlueZ may close the socket of another one
/// (https://github.com/bluez/bluez/issues/1452). So a short wait follows if a socket closes while its central is
/// connected and others have sockets too, or if a central disconnects and its socket does not close.
///
/// BlueZ pitfall: a bonded central that reconnects is still subscribed, and BlueZ does not report it
/// (https://github.com/RuckerGauge/blePeripheral/issues/2). So its last subscriptions are remembered.
struct Subscriptions: Sendable {
    /// Characteristics for which the log warns that their values reach all subscribers, not only the chosen ones.
    var warned: Set<ObjectPath> = []
    /// The way by which values reach a central.
    enum Way: Equatable, Sendable {
        case socket(SocketID)
        case broadcast
    }

    /// The consequence of a closed socket.
    enum Closing: Equatable, Sendable {
        /// The subscription has ended, and must be removed.
        case ended(PeerID, ObjectPath)
        /// The consequence is not clear yet; ``settle(_:)`` decides.
        case unclear(ObjectPath)
        /// The socket has no owner.
        case unknown
    }

    /// The outcome of the wait.
    struct Quiescence: Equatable, Sendable {
        /// The centrals whose subscriptions have ended, and are removed.
        var ended: [PeerID] = []
        /// The sockets to close.
        var sockets: [SocketID] = []
    }

    private var ways: [ObjectPath: [PeerID: Way]] = [:]
    private var sockets: [SocketID: (path: ObjectPath, peer: PeerID)] = [:]
    /// Connected centrals whose socket was closed, by characteristic.
    private var hungUp: [ObjectPath: [PeerID]] = [:]
    /// Open sockets of disconnected centrals, by characteristic.
    private var leftOpen: [ObjectPath: [SocketID]] = [:]
    /// The subscriptions that bonded centrals had when they disconnected.
    private var dormant: [PeerID: Set<ObjectPath>] = [:]

    // MARK: Queries

    /// Returns the subscribers of a characteristic.
    func subscribers(of path: ObjectPath) -> Set<PeerID> { Set((ways[path] ?? [:]).keys) }

    /// Returns the characteristics that a central is subscribed to, in order.
    func paths(of peer: PeerID) -> [ObjectPath] { ways.filter { $0.value[peer] != nil }.keys.sorted() }

    /// Whether values reach a central over a socket.
    func hasSocket(_ peer: PeerID, on path: ObjectPath) -> Bool {
        if case .socket? = ways[path]?[peer] { true } else { false }
    }

    /// Returns the subscription of a socket.
    func owner(of socket: SocketID) -> (path: ObjectPath, peer: PeerID)? { sockets[socket] }

    /// Returns the sockets on which to send a value; nil if it must be broadcast.
    func sockets(of path: ObjectPath, for peers: [PeerID]) -> [SocketID]? {
        // A broadcast also reaches centrals with sockets, so one central without a socket decides for all.
        guard let ways = ways[path], !ways.values.contains(.broadcast) else { return nil }
        return peers.compactMap { peer in
            if case .socket(let socket)? = ways[peer] { socket } else { nil }
        }
    }

    // MARK: Changes

    /// Adds a subscription.
    ///
    /// - Returns: Whether it is new, and its earlier socket.
    mutating func add(_ peer: PeerID, to path: ObjectPath, _ way: Way) -> (isNew: Bool, old: SocketID?) {
        let old = ways[path]?[peer]
        ways[path, default: [:]][peer] = way
        hungUp[path]?.removeAll { $0 == peer }
        dormant[peer]?.remove(path)
        if case .socket(let socket) = way { sockets[socket] = (path, peer) }
        guard case .socket(let socket)? = old else { return (old == nil, nil) }
        sockets[socket] = nil
        return (false, socket)
    }

    /// Removes a subscription.
    ///
    /// - Returns: Whether it existed, and its socket, which the caller closes.
    mutating func remove(_ peer: PeerID, from path: ObjectPath) -> (wasThere: Bool, socket: SocketID?) {
        guard let way = ways[path]?.removeValue(forKey: peer) else { return (false, nil) }
        if ways[path]?.isEmpty == true { ways[path] = nil }
        hungUp[path]?.removeAll { $0 == peer }
        guard case .socket(let socket) = way else { return (true, nil) }
        sockets[socket] = nil
        return (true, socket)
    }

    /// Removes all subscriptions below a path.
    ///
    /// - Returns: The sockets to close.
    mutating func removeAll(below ancestor: ObjectPath) -> [SocketID] {
        let paths = ways.keys.filter { $0.isBelow(ancestor) }
        var closed: [SocketID] = []
        for path in paths {
            for peer in subscribers(of: path) { remove(peer, from: path).socket.map { closed.append($0) } }
        }
        for path in leftOpen.keys.filter({ $0.isBelow(ancestor) }) {
            closed += leftOpen.removeValue(forKey: path) ?? []
        }
        for path in hungUp.keys.filter({ $0.isBelow(ancestor) }) { hungUp[path] = nil }
        for peer in dormant.keys { dormant[peer] = dormant[peer]?.filter { !$0.isBelow(ancestor) } }
        return closed
    }

    // MARK: Links

    /// Removes the subscriptions of a central that has disconnected.
    ///
    /// - Returns: Its subscriptions, in order, and the characteristics that now wait for ``settle(_:)``.
    mutating func left(_ peer: PeerID, isBonded: Bool) -> (ended: [ObjectPath], unclear: [ObjectPath]) {
        let paths = paths(of: peer)
        var unclear: [ObjectPath] = []
        for path in paths {
            if let socket = remove(peer, from: path).socket {
                leftOpen[path, default: []].append(socket)
                unclear.append(path)
            }
        }
        if isBonded { dormant[peer, default: []].formUnion(paths) } else { dormant[peer] = nil }
        return (paths, unclear)
    }

    /// Returns the subscriptions of a bonded central that has connected again.
    ///
    /// - Returns: The characteristics, which the caller passes to ``add(_:to:_:)``.
    mutating func centralConnected(_ peer: PeerID) -> [ObjectPath] {
        (dormant.removeValue(forKey: peer) ?? []).sorted()
    }

    /// Drops the remembered subscriptions of a central whose bond is gone.
    mutating func forget(_ peer: PeerID) { dormant[peer] = nil }

    /// Records that a socket was closed.
    mutating func closed(_ socket: SocketID) -> Closing {
        if let path = leftOpen.first(where: { $0.value.contains(socket) })?.key {
            // The expected close, because its central has disconnected.
            leftOpen[path]?.removeAll { $0 == socket }
            return .unclear(path)
        }
        guard let (path, peer) = sockets[socket] else { return .unknown }
        let others = ways[path]?.contains { $0.key != peer && $0.value != .broadcast } ?? false
        sockets[socket] = nil
        // The central receives broadcasts until the end is reported, so it misses no value.
        ways[path]?[peer] = .broadcast
        guard others || leftOpen[path]?.isEmpty == false else { return .ended(peer, path) }
        hungUp[path, default: []].append(peer)
        return .unclear(path)
    }

    /// Ends the wait: for each disconnected central whose socket is open, BlueZ has closed one other socket by mistake.
    mutating func settle(_ path: ObjectPath) -> Quiescence {
        let lost = leftOpen.removeValue(forKey: path) ?? []
        let candidates = hungUp.removeValue(forKey: path) ?? []
        let ended = Array(candidates.dropFirst(lost.count))
        for peer in ended { _ = remove(peer, from: path) }
        return Quiescence(ended: ended, sockets: lost)
    }
}
#endif
