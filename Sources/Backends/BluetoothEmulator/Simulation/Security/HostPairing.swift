import BluetoothBackend

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

    /// Removes the requests of certain askers for a peer, with their timeouts.
    ///
    /// - Returns: The askers.
    mutating func takeRequests(
        for peer: PeerID, _ context: inout WorldContext, of isTaken: (Asker) -> Bool = { _ in true }
    ) -> [Asker] {
        let all = requests[peer] ?? []
        let others = all.filter { !isTaken($0.asker) }
        requests[peer] = others.isEmpty ? nil : others
        let taken = all.filter { isTaken($0.asker) }
        for request in taken { context.queue.cancel(request.timeout) }
        return taken.map(\.asker)
    }

    /// Removes a request whose timeout has fired; returns whether there was one.
    mutating func expireRequest(for peer: PeerID, of asker: Asker) -> Bool {
        let all = requests[peer] ?? []
        let others = all.filter { $0.asker != asker }
        requests[peer] = others.isEmpty ? nil : others
        return others.count < all.count
    }

    mutating func stopWaiting(for peer: PeerID, _ context: inout WorldContext) {
        if let token = encryptionTimeouts.removeValue(forKey: peer) { context.queue.cancel(token) }
    }

    mutating func stopWaitingForAll(_ context: inout WorldContext) {
        for token in encryptionTimeouts.values { context.queue.cancel(token) }
        encryptionTimeouts = [:]
    }
}
