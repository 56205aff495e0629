// The peers, links, operations, attributes and channels that commands and events of the central role name; nil if the
// case has none.

extension CentralCommand {
    package var peer: PeerID? {
        switch self {
        case .connect(let peer, _, _), .disconnect(let peer): peer
        default: nil
        }
    }

    package var link: LinkID? {
        switch self {
        case .request(let link, _, _), .writeCommand(let link, _, _): link
        default: nil
        }
    }

    package var operation: OperationID? {
        switch self {
        case .connect(_, let operation, _), .request(_, let operation, _): operation
        default: nil
        }
    }

    /// The characteristic or descriptor that the command names.
    package var attribute: AttributeID? {
        switch self {
        case .request(_, _, .discoverIncludedServices), .request(_, _, .discoverCharacteristics): nil
        case .request(_, _, let request): request.attribute
        case .writeCommand(_, let attribute, _): attribute
        default: nil
        }
    }

    package var channel: ChannelID? {
        if case .channel(let channel, _) = self { channel } else { nil }
    }
}

extension CentralEvent {
    package var peer: PeerID? {
        switch self {
        case .connected(let peer, _, _, _), .connectFailed(let peer, _, _), .nameChanged(let peer, _, _),
            .peerForgotten(let peer), .connectionEvent(let peer, _), .ancsAuthorizationChanged(let peer, _):
            peer
        case .discovered(let discovery): discovery.peer
        default: nil
        }
    }

    package var link: LinkID? {
        switch self {
        case .connected(_, let link, _, _), .disconnected(let link, _, _, _, _), .mtuChanged(let link, _),
            .writeCredits(let link, _), .servicesChanged(let link, _, _), .response(let link, _, _),
            .valueNotified(let link, _, _), .subscriptionEnded(let link, _, _):
            link
        default: nil
        }
    }

    package var operation: OperationID? {
        switch self {
        case .connected(_, _, let operation, _), .connectFailed(_, let operation, _), .response(_, let operation, _):
            operation
        default: nil
        }
    }

    package var channel: ChannelID? {
        switch self {
        case .response(_, _, .channel(let channel, _)), .channel(let channel, _): channel
        default: nil
        }
    }
}
