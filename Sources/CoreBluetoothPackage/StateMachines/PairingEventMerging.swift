import BluetoothBackend

/// What later events make void while they wait for a slow queue, of pairing.
enum PairingEventMerging {
    /// Merges events that others cause.
    ///
    /// A question that was cancelled meanwhile is gone. Of pairings that the app did not ask for, the last result of each
    /// device stays. A question is gone once the pairing that it is of has a result.
    ///
    /// - Parameter events: In order.
    /// - Returns: What takes the place of each event; nil for those that are void.
    static func merged(_ events: [PairingEvent]) -> [PairingEvent?] {
        var left: [PairingEvent?] = events
        var questions: [PairingRequestID: Int] = [:]
        var questionsOfPeers: [PeerID: [Int]] = [:]
        var results: [PeerID: Int] = [:]
        for (index, event) in events.enumerated() {
            switch event {
            case .requested(let request, let peer, _):
                questions[request] = index
                questionsOfPeers[peer, default: []].append(index)
            case .cancelled(let request):
                guard let asked = questions.removeValue(forKey: request) else { continue }
                (left[asked], left[index]) = (nil, nil)
            case .paired(let peer, let operation, _), .pairingFailed(let peer, let operation, _),
                .unpaired(let peer, let operation):
                for asked in questionsOfPeers.removeValue(forKey: peer) ?? [] { left[asked] = nil }
                guard operation == nil, let old = results.updateValue(index, forKey: peer) else { continue }
                left[old] = nil
            }
        }
        return left
    }
}
