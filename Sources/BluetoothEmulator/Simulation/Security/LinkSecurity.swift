import BluetoothBackend
import BluetoothValues

/// The encryption of a link, and the pairing under way on it.
struct LinkSecurity: Sendable {
    var level = SecurityLevel.plain
    var pairing: Pairing?
    /// A pairing timed out: no other may follow on this link.
    var isPairingBarred = false
}

/// The security of a link.
package enum SecurityLevel: Hashable, Sendable {
    /// No keys, no encryption.
    case plain
    /// Both sides have keys, but the link is not encrypted.
    case bonded
    /// Encrypted with an unauthenticated key.
    case encrypted
    /// Encrypted with a key that both users compared or that was exchanged out of band.
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

/// The result of a pairing that one side keeps.
struct Bond: Sendable {
    /// Represents the long-term key: the same on both sides, while both have it.
    let key: UInt64
    /// The users compared the numbers, or the data was exchanged out of band.
    let isAuthenticated: Bool
    /// The identifier under which the other side is known, also under a new address.
    let peer: PeerID
    /// As a server: the other side's subscriptions when its link ended.
    var subscriptions: [AttributeID: LinkServer.Subscription] = [:]
    /// As a server: the services that the other side knows.
    var services: [AttributeID] = []
    /// As a client: the other side's database as it was when the link ended.
    var cache: AttributeDatabase?

    /// The security of a link that both sides encrypt with this.
    var security: SecurityLevel { isAuthenticated ? .authenticated : .encrypted }
}

/// The bonds of a host, its pairings that wait for a link, and its waits for encryption.
struct HostPairing: Sendable {
    /// An app that asked for a pairing.
    typealias Asker = (manager: Ref<Manager>, operation: OperationID)

    /// A pairing that waits for a link.
    struct Request: Sendable {
        let asker: Asker
        let timeout: WorldQueue.Token
    }

    /// By identity address.
    var bonds: [DeviceAddress: Bond] = [:]
    /// The ends of the waits for bonded peers that have answered a connect and start no encryption.
    var encryptionTimeouts: [PeerID: WorldQueue.Token] = [:]
    private var requests: [PeerID: [Request]] = [:]

    /// The identity address of the device that the host knows as `peer` and has keys of.
    func bondAddress(of peer: PeerID) -> DeviceAddress? { bonds.first { $0.value.peer == peer }?.key }

    /// The peers whose links pairings wait for.
    var requestedPeers: [PeerID] { requests.keys.sorted { $0.description < $1.description } }

    mutating func request(_ peer: PeerID, _ request: Request) { requests[peer, default: []].append(request) }

    /// Removes the requests of some askers for a peer.
    mutating func takeRequests(for peer: PeerID, of isTaken: (Asker) -> Bool) -> [Request] {
        let all = requests[peer] ?? []
        let others = all.filter { !isTaken($0.asker) }
        requests[peer] = others.isEmpty ? nil : others
        return all.filter { isTaken($0.asker) }
    }
}
