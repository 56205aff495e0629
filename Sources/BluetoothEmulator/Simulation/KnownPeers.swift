import BluetoothBackend

/// The peers that a host saw or connected to.
///
/// A limited number of each is remembered; the one that was noted longest ago is forgotten for the next.
struct KnownPeers: Sendable {
    /// Those that a manager wanted a connection with.
    private var used: LRUCache<PeerID, Host.KnownPeer>
    private var heard: LRUCache<PeerID, Host.KnownPeer>

    /// No peers; `limit` counts for each of the two kinds.
    init(limit: Int) {
        used = LRUCache(limit: limit)
        heard = LRUCache(limit: limit)
    }

    /// How many peers are remembered.
    var count: Int { used.count + heard.count }

    /// What is known of a peer; to set it is to note the peer.
    subscript(peer: PeerID) -> Host.KnownPeer? {
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
    /// - Returns: What was known of it.
    mutating func forget(_ peer: PeerID) -> Host.KnownPeer? {
        used.remove(peer) ?? heard.remove(peer)
    }

    /// Remembers more or fewer peers.
    mutating func changeLimit(to limit: Int) {
        used.changeLimit(to: limit)
        heard.changeLimit(to: limit)
    }
}
