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
        case .connected, .connectFailed, .disconnected, .mtuChanged, .writeCredits, .rssiRead, .operationFailed:
            traceLink(to: &line)
        case .servicesChanged, .servicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered, .valueRead,
            .notifyingChanged, .valueNotified:
            traceAttributes(to: &line)
        case .channelOpened(_, _, _, let credits): line.add("credits", credits)
        case .channelReceived(_, let data): line.add("data", private: data)
        case .channelCredits(_, let count): line.add("count", count)
        case .peerForgotten, .written, .channelClosed: break
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
        case .connectFailed(_, _, let error), .operationFailed(_, _, let error): line.add(error)
        case .disconnected(_, let reason, _, let isReconnecting):
            line.add("reason", reason.rawValue)
            line.add("isReconnecting", isReconnecting)
        case .mtuChanged(_, let mtu): line.add("mtu", mtu)
        case .writeCredits(_, let count): line.add("count", count)
        case .rssiRead(_, _, let rssi): line.add("rssi", rssi)
        default: break
        }
    }

    private func traceAttributes(to line: inout TraceLine) {
        switch self {
        case .servicesChanged(_, let removed, let added):
            line.add("removed", list: removed)
            line.add("added", list: added.map(\.uuid))
        case .servicesDiscovered(_, _, let services): line.add("services", list: services.map { "\($0.id):\($0.uuid)" })
        case .characteristicsDiscovered(_, _, let characteristics):
            line.add("characteristics", list: characteristics.map { "\($0.id):\($0.uuid)" })
        case .descriptorsDiscovered(_, _, let descriptors):
            line.add("descriptors", list: descriptors.map { "\($0.id):\($0.uuid)" })
        case .valueRead(_, _, let value): line.add("value", private: value)
        case .notifyingChanged(_, _, let isNotifying): line.add("isNotifying", isNotifying)
        case .valueNotified(_, let attribute, let value):
            line.add("attribute", attribute)
            line.add("value", private: value)
        default: break
        }
    }
}
