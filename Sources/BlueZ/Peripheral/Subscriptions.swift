#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Which centrals subscribe to which characteristics of ours, and how values reach them.
///
/// Pure.
///
/// From BlueZ 5.79 on each subscription has a socket, whose end is the end of the subscription. Before, and where a
/// socket went wrong, values go to everybody who subscribes, as changes of `Value`.
///
/// BlueZ pitfall: when an unbonded central leaves, BlueZ may close another one's socket
/// (https://github.com/bluez/bluez/issues/1452). So when a socket closes while its central is connected and others
/// have sockets too, or a central leaves and its socket does not close, both wait a moment for each other.
///
/// BlueZ pitfall: a bonded central that returns is subscribed still, and BlueZ does not report it
/// (https://github.com/RuckerGauge/blePeripheral/issues/2). What it subscribed to when it left is remembered.
struct Subscriptions: Sendable {
    /// Characteristics for which a warning about values for some subscribers alone was logged.
    var warned: Set<ObjectPath> = []
    /// How values reach a central.
    enum Way: Equatable, Sendable {
        case socket(SocketID)
        case broadcast
    }

    /// What became of a socket that closed.
    enum Closing: Equatable, Sendable {
        /// The subscription has ended; it is to be removed.
        case ended(PeerID, ObjectPath)
        /// It is not clear yet: ``settle(_:)`` decides.
        case unclear(ObjectPath)
        /// The socket has no owner.
        case unknown
    }

    /// What a moment's wait brought.
    struct Quiescence: Equatable, Sendable {
        /// Whose subscriptions have ended; they are removed.
        var ended: [PeerID] = []
        /// Sockets to close.
        var sockets: [SocketID] = []
    }

    private var ways: [ObjectPath: [PeerID: Way]] = [:]
    private var sockets: [SocketID: (path: ObjectPath, peer: PeerID)] = [:]
    /// Sockets that closed under a connected central, by characteristic.
    private var hungUp: [ObjectPath: [PeerID]] = [:]
    /// Open sockets of centrals that left, by characteristic.
    private var leftOpen: [ObjectPath: [SocketID]] = [:]
    /// What bonded centrals subscribed to when they left.
    private var dormant: [PeerID: Set<ObjectPath>] = [:]

    // MARK: Questions

    /// The subscribers of a characteristic.
    func subscribers(of path: ObjectPath) -> Set<PeerID> { Set((ways[path] ?? [:]).keys) }

    /// The characteristics that a central subscribes to, in order.
    func paths(of peer: PeerID) -> [ObjectPath] { ways.filter { $0.value[peer] != nil }.keys.sorted() }

    /// Whether values reach a central by a socket of its own.
    func hasSocket(_ peer: PeerID, on path: ObjectPath) -> Bool {
        if case .socket? = ways[path]?[peer] { true } else { false }
    }

    /// Who owns a socket.
    func owner(of socket: SocketID) -> (path: ObjectPath, peer: PeerID)? { sockets[socket] }

    /// The sockets that a value goes to; nil if it has to go to everybody.
    func sockets(of path: ObjectPath, for peers: [PeerID]) -> [SocketID]? {
        // A broadcast reaches those with sockets, too: one that needs it makes it everybody's way.
        guard let ways = ways[path], !ways.values.contains(.broadcast) else { return nil }
        return peers.compactMap { peer in
            if case .socket(let socket)? = ways[peer] { socket } else { nil }
        }
    }

    // MARK: Changes

    /// Adds a subscription.
    ///
    /// - Returns: Whether it is new, and the socket that it had before.
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

    /// Ends a subscription.
    ///
    /// - Returns: Whether there was one, and its socket, to be closed.
    mutating func remove(_ peer: PeerID, from path: ObjectPath) -> (wasThere: Bool, socket: SocketID?) {
        guard let way = ways[path]?.removeValue(forKey: peer) else { return (false, nil) }
        if ways[path]?.isEmpty == true { ways[path] = nil }
        hungUp[path]?.removeAll { $0 == peer }
        guard case .socket(let socket) = way else { return (true, nil) }
        sockets[socket] = nil
        return (true, socket)
    }

    /// All subscriptions to what is below a path end.
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

    /// A central left.
    ///
    /// - Returns: What it subscribed to, in order, and the characteristics that now wait for ``settle(_:)``.
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

    /// A central came.
    ///
    /// - Returns: What it subscribes to still; ``add(_:to:_:)`` takes it.
    mutating func centralConnected(_ peer: PeerID) -> [ObjectPath] {
        (dormant.removeValue(forKey: peer) ?? []).sorted()
    }

    /// A central's bond is gone, and with it what BlueZ remembers.
    mutating func forget(_ peer: PeerID) { dormant[peer] = nil }

    /// A socket closed.
    mutating func closed(_ socket: SocketID) -> Closing {
        if let path = leftOpen.first(where: { $0.value.contains(socket) })?.key {
            // As it should: its central left.
            leftOpen[path]?.removeAll { $0 == socket }
            return .unclear(path)
        }
        guard let (path, peer) = sockets[socket] else { return .unknown }
        let others = ways[path]?.contains { $0.key != peer && $0.value != .broadcast } ?? false
        sockets[socket] = nil
        // Until its end is reported, it misses nothing.
        ways[path]?[peer] = .broadcast
        guard others || leftOpen[path]?.isEmpty == false else { return .ended(peer, path) }
        hungUp[path, default: []].append(peer)
        return .unclear(path)
    }

    /// The moment is over: each central that left without its socket means one socket that was closed by mistake.
    mutating func settle(_ path: ObjectPath) -> Quiescence {
        let lost = leftOpen.removeValue(forKey: path) ?? []
        let candidates = hungUp.removeValue(forKey: path) ?? []
        let ended = Array(candidates.dropFirst(lost.count))
        for peer in ended { _ = remove(peer, from: path) }
        return Quiescence(ended: ended, sockets: lost)
    }
}
#endif
