// The operations, centrals, attributes and channels that commands and events of the peripheral role name; nil if the
// case has none.

extension PeripheralCommand {
    package var operation: OperationID? {
        switch self {
        case .addService(let operation, _), .startAdvertising(let operation, _), .publishChannel(let operation, _),
            .unpublishChannel(let operation, _):
            operation
        default: nil
        }
    }

    package var channel: ChannelID? {
        if case .channel(let channel, _) = self { channel } else { nil }
    }
}

extension PeripheralEvent {
    package var operation: OperationID? {
        switch self {
        case .serviceAdded(let operation), .advertisingStarted(let operation), .channelPublished(let operation, _),
            .channelUnpublished(let operation, _), .operationFailed(let operation, _):
            operation
        default: nil
        }
    }

    package var central: PeerID? {
        switch self {
        case .subscribed(let central, _, _, _), .unsubscribed(let central, _), .notifyCredits(let central, _),
            .mtuChanged(let central, _), .readRequested(_, let central, _, _, _),
            .writeRequested(_, let central, _, _, _), .channelOpened(_, _, let central, _):
            central
        default: nil
        }
    }

    package var attribute: AttributeID? {
        switch self {
        case .subscribed(_, let attribute, _, _), .unsubscribed(_, let attribute),
            .readRequested(_, _, let attribute, _, _):
            attribute
        case .writeRequested(_, _, _, _, let parts): parts.first?.attribute
        default: nil
        }
    }

    package var channel: ChannelID? {
        switch self {
        case .channelOpened(let channel, _, _, _), .channel(let channel, _): channel
        default: nil
        }
    }
}
