extension PeripheralEvent {
    /// An event without its content; the case names of ``PeripheralEvent``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case stateChanged, authorizationChanged, restored, serviceAdded, advertisingStarted, advertisingEnded,
            subscribed, unsubscribed, notifyCredits, mtuChanged, readRequested, writeRequested, requestExpired,
            channelPublished, channelUnpublished, channelOpened, channelReceived, channelCredits, channelClosed,
            operationFailed
    }

    /// Which case this is.
    public var kind: Kind {
        switch self {
        case .stateChanged: .stateChanged
        case .authorizationChanged: .authorizationChanged
        case .restored: .restored
        case .serviceAdded: .serviceAdded
        case .advertisingStarted: .advertisingStarted
        case .advertisingEnded: .advertisingEnded
        case .subscribed: .subscribed
        case .unsubscribed: .unsubscribed
        case .notifyCredits: .notifyCredits
        case .mtuChanged: .mtuChanged
        case .readRequested: .readRequested
        case .writeRequested: .writeRequested
        case .requestExpired: .requestExpired
        case .channelPublished: .channelPublished
        case .channelUnpublished: .channelUnpublished
        case .channelOpened: .channelOpened
        case .channel(_, .received): .channelReceived
        case .channel(_, .credits): .channelCredits
        case .channel(_, .closed): .channelClosed
        case .operationFailed: .operationFailed
        }
    }
}
