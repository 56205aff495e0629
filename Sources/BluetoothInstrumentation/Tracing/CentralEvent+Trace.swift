import BluetoothBackend

extension CentralEvent: Traceable {
    var traceName: String { kind.rawValue }

    var traceCategory: TraceCategory {
        switch kind {
        case .valueRead, .written, .valueNotified, .channelReceived, .channelCredits, .writeCredits: .data
        default: .callback
        }
    }

    func trace(to line: inout TraceLine) {
        line.add("peer", peer)
        line.add("link", link)
        line.add("operation", operation)
        line.add("channel", channel)
        switch self {
        case .stateChanged, .authorizationChanged, .restored, .discovered, .nameChanged, .connectionEvent,
            .ancsAuthorizationChanged:
            traceManager(to: &line)
        case .connected, .connectFailed, .disconnected, .mtuChanged, .writeCredits, .servicesChanged, .valueNotified:
            traceLink(to: &line)
        case .response(_, _, let response): line.add(response)
        case .channel(_, let event): line.add(event)
        case .peerForgotten: break
        }
    }

    private func traceManager(to line: inout TraceLine) {
        switch self {
        case .stateChanged(let state): line.add("state", state.rawValue)
        case .authorizationChanged(let status): line.add("status", status.rawValue)
        case .restored(let state):
            line.add("peers", list: state.peers.map(\.summary.id))
            if let scan = state.scan { line.add(scan) }
        case .discovered(let discovery):
            line.add("rssi", discovery.rssi)
            line.add("address", private: discovery.address)
            line.add(discovery.advertisement)
        case .nameChanged(_, let name, let source):
            line.add("name", name)
            line.add("source", source.rawValue)
        case .connectionEvent(_, let isConnected): line.add("isConnected", isConnected)
        case .ancsAuthorizationChanged(_, let isAuthorized): line.add("isAuthorized", isAuthorized)
        default: break
        }
    }

    private func traceLink(to line: inout TraceLine) {
        switch self {
        case .connected(_, _, _, let parameters):
            line.add("mtu", parameters.mtu)
            line.add("credits", parameters.writeCredits)
        case .connectFailed(_, _, let error): line.add(error)
        case .disconnected(_, let reason, _, let isReconnecting):
            line.add("reason", reason.rawValue)
            line.add("isReconnecting", isReconnecting)
        case .mtuChanged(_, let mtu): line.add("mtu", mtu)
        case .writeCredits(_, let count): line.add("count", count)
        case .servicesChanged(_, let removed, let added):
            line.add("removed", list: removed)
            line.add("added", list: added.map(\.uuid))
        case .valueNotified(_, let attribute, let value):
            line.add("attribute", attribute)
            line.add("value", private: value)
        default: break
        }
    }
}

extension TraceLine {
    mutating func add(_ response: LinkResponse) {
        switch response {
        case .rssi(let rssi): add("rssi", rssi)
        case .services(let services): add("services", list: services.map { "\($0.id):\($0.uuid)" })
        case .characteristics(let found): add("characteristics", list: found.map { "\($0.id):\($0.uuid)" })
        case .descriptors(let found): add("descriptors", list: found.map { "\($0.id):\($0.uuid)" })
        case .value(let value): add("value", private: value)
        case .notifying(let isNotifying): add("isNotifying", isNotifying)
        case .channel(_, let credits): add("credits", credits)
        case .failure(let error): add(error)
        case .written: break
        }
    }
}
