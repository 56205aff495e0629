extension CentralEvent {
    /// An event without its content, named as fault plans and traces name it.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case stateChanged, authorizationChanged, restored, discovered, connected, connectFailed, disconnected,
            nameChanged, peerForgotten, connectionEvent, ancsAuthorizationChanged, mtuChanged, writeCredits,
            servicesChanged, rssiRead, servicesDiscovered, characteristicsDiscovered, descriptorsDiscovered,
            valueRead, written, notifyingChanged, valueNotified, channelOpened, channelReceived, channelCredits,
            channelClosed, operationFailed
    }

    /// The kind of this event.
    public var kind: Kind {
        switch self {
        case .stateChanged: .stateChanged
        case .authorizationChanged: .authorizationChanged
        case .restored: .restored
        case .discovered: .discovered
        case .connected: .connected
        case .connectFailed: .connectFailed
        case .disconnected: .disconnected
        case .nameChanged: .nameChanged
        case .peerForgotten: .peerForgotten
        case .connectionEvent: .connectionEvent
        case .ancsAuthorizationChanged: .ancsAuthorizationChanged
        case .mtuChanged: .mtuChanged
        case .writeCredits: .writeCredits
        case .servicesChanged: .servicesChanged
        case .response(_, _, let response): response.kind
        case .valueNotified: .valueNotified
        case .channel(_, .received): .channelReceived
        case .channel(_, .credits): .channelCredits
        case .channel(_, .closed): .channelClosed
        }
    }
}

extension LinkResponse {
    fileprivate var kind: CentralEvent.Kind {
        switch self {
        case .rssi: .rssiRead
        case .services: .servicesDiscovered
        case .characteristics: .characteristicsDiscovered
        case .descriptors: .descriptorsDiscovered
        case .value: .valueRead
        case .written: .written
        case .notifying: .notifyingChanged
        case .channel: .channelOpened
        case .failure: .operationFailed
        }
    }
}
