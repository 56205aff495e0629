import BluetoothBackend
import BluetoothValues

/// The encryption of a link, and the pairing under way on it.
struct LinkSecurity: Sendable {
    var level = SecurityLevel.plain
    var pairing: Pairing?
    /// Whether pairing is barred on this link after a pairing timed out.
    var isPairingBarred = false
}

/// The security of a link.
package enum SecurityLevel: Hashable, Sendable {
    /// The link has no keys and no encryption.
    case plain
    /// Both sides have keys, but the link is not encrypted.
    case bonded
    /// The link is encrypted with an unauthenticated key.
    case encrypted
    /// The link is encrypted with a key that the users compared or that was exchanged out of band.
    case authenticated

    /// The error of an attribute that requires encryption; nil if it is served.
    ///
    /// Source: Core Specification, Vol 3, Part C, 10.3.1.
    var refusal: ATTCode? {
        switch self {
        case .plain: .insufficientAuthentication
        case .bonded: .insufficientEncryption
        case .encrypted, .authenticated: nil
        }
    }
}

/// The keys that one side keeps from a pairing, and its state of the other side.
struct Bond: Sendable {
    /// Represents the long-term key; equal on both sides while both have it.
    let key: UInt64
    /// Whether the users compared the numbers, or the data was exchanged out of band.
    let isAuthenticated: Bool
    /// The identifier of the other side, which survives a new address.
    let peer: PeerID
    /// For a server: the other side's subscriptions when its link ended.
    var subscriptions: [AttributeID: LinkServer.Subscription] = [:]
    /// For a server: the services that the other side knows.
    var services: [AttributeID] = []
    /// For a client: the other side's database when the link ended.
    var cache: AttributeDatabase?

    /// The security of a link that both sides encrypt with this key.
    var security: SecurityLevel { isAuthenticated ? .authenticated : .encrypted }
}

/// The bonds of a host, its pairings that wait for a link, and its timeouts for encryption.
struct HostPairing: Sendable {
    /// The manager and the operation of an app that requested a pairing.
    typealias Asker = (manager: Ref<Manager>, operation: OperationID)

    /// A pairing that waits for a link.
    struct Request: Sendable {
        let asker: Asker
        let timeout: WorldQueue.Token
    }

    /// The bonds, by identity address.
    var bonds: [DeviceAddress: Bond] = [:]
    /// The timeouts for bonded peers that have answered a connect but start no encryption.
    var encryptionTimeouts: [PeerID: WorldQueue.Token] = [:]
    private var requests: [PeerID: [Request]] = [:]

    /// Returns the identity address of the bonded device that the host knows as `peer`; nil if it is not bonded.
    func bondAddress(of peer: PeerID) -> DeviceAddress? { bonds.first { $0.value.peer == peer }?.key }

    /// The peers to which pairings wait for a link.
    var requestedPeers: [PeerID] { requests.keys.sorted { $0.description < $1.description } }

    mutating func request(_ peer: PeerID, _ request: Request) { requests[peer, default: []].append(request) }

    /// Removes and returns the requests of certain askers for a peer.
    mutating func takeRequests(for peer: PeerID, of isTaken: (Asker) -> Bool) -> [Request] {
        let all = requests[peer] ?? []
        let others = all.filter { !isTaken($0.asker) }
        requests[peer] = others.isEmpty ? nil : others
        return all.filter { isTaken($0.asker) }
    }
}
