extension CentralEvent {
    /// An event without its content; the case names of ``CentralEvent``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case stateChanged, authorizationChanged, restored, discovered, connected, connectFailed, disconnected,
            nameChanged, peerForgotten, connectionEvent, ancsAuthorizationChanged, mtuChanged, writeCredits,
            servicesChanged, rssiRead, servicesDiscovered, characteristicsDiscovered, descriptorsDiscovered,
            valueRead, written, notifyingChanged, valueNotified, channelOpened, channelReceived, channelCredits,
            channelClosed, operationFailed
    }

    /// Which case this is.
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
        case .rssiRead: .rssiRead
        case .servicesDiscovered: .servicesDiscovered
        case .characteristicsDiscovered: .characteristicsDiscovered
        case .descriptorsDiscovered: .descriptorsDiscovered
        case .valueRead: .valueRead
        case .written: .written
        case .notifyingChanged: .notifyingChanged
        case .valueNotified: .valueNotified
        case .channelOpened: .channelOpened
        case .channelReceived: .channelReceived
        case .channelCredits: .channelCredits
        case .channelClosed: .channelClosed
        case .operationFailed: .operationFailed
        }
    }
}
