import BluetoothBackend

/// A peer that a host saw or connected to.
struct KnownPeer: Sendable {
    var address: DeviceAddress
    var advertisedName: String?
    /// The GAP Device Name, once it was read.
    var deviceName: String?

    var name: String? { deviceName ?? advertisedName }
}

/// The peers that a host saw or connected to.
///
/// A limited number of each is remembered; the one that was noted longest ago is forgotten for the next.
struct KnownPeers: Sendable {
    /// Peers that a manager wanted a connection with.
    private var used: LRUCache<PeerID, KnownPeer>
    private var heard: LRUCache<PeerID, KnownPeer>
    /// How many peers managers want remembered; nil before the first.
    private var requestedLimit: Int?

    /// No peers; `limit` counts for each of the two kinds.
    init(limit: Int) {
        used = LRUCache(limit: limit)
        heard = LRUCache(limit: limit)
    }

    /// How many peers are remembered.
    var count: Int { used.count + heard.count }

    /// The record of a peer; setting it notes the peer.
    subscript(peer: PeerID) -> KnownPeer? {
        get { used[peer] ?? heard[peer] }
        set {
            guard let newValue else {
                used.remove(peer)
                heard.remove(peer)
                return
            }
            if used.use(peer, { $0 = newValue }) == nil { heard.insert(newValue, for: peer) }
        }
    }

    /// Notes that a manager wants a connection with a peer.
    mutating func noteUse(of peer: PeerID) {
        guard used.use(peer, { _ in }) == nil, let known = heard.remove(peer) else { return }
        used.insert(known, for: peer)
    }

    /// Forgets a peer.
    ///
    /// - Returns: Its record.
    mutating func forget(_ peer: PeerID) -> KnownPeer? {
        used.remove(peer) ?? heard.remove(peer)
    }

    /// The limit that scans apply as well.
    var limit: Int { requestedLimit ?? CentralOptions.defaultRememberedPeers }

    /// Remembers so many peers of each kind, or more if another manager wants that.
    mutating func remember(atLeast limit: Int) {
        let new = max(requestedLimit ?? 1, limit)
        requestedLimit = new
        used.changeLimit(to: new)
        heard.changeLimit(to: new)
    }
}
