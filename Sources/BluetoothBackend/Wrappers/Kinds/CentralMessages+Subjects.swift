// Whom and what a central's commands and events are about; nil where that is no field of the case.

extension CentralCommand {
    var peer: PeerID? {
        switch self {
        case .connect(let peer, _, _), .disconnect(let peer): peer
        default: nil
        }
    }

    /// The link that the command is about.
    package var link: LinkID? {
        switch self {
        case .readRSSI(let link, _), .discoverServices(let link, _, _), .discoverIncludedServices(let link, _, _, _),
            .discoverCharacteristics(let link, _, _, _), .discoverDescriptors(let link, _, _), .read(let link, _, _),
            .write(let link, _, _, _), .writeCommand(let link, _, _), .setNotifying(let link, _, _, _),
            .openChannel(let link, _, _):
            link
        default: nil
        }
    }

    /// The operation that the answer names.
    package var operation: OperationID? {
        switch self {
        case .connect(_, let operation, _), .readRSSI(_, let operation), .discoverServices(_, let operation, _),
            .discoverIncludedServices(_, let operation, _, _), .discoverCharacteristics(_, let operation, _, _),
            .discoverDescriptors(_, let operation, _), .read(_, let operation, _), .write(_, let operation, _, _),
            .setNotifying(_, let operation, _, _), .openChannel(_, let operation, _):
            operation
        default: nil
        }
    }

    var attribute: AttributeID? {
        switch self {
        case .discoverDescriptors(_, _, let attribute), .read(_, _, let attribute), .write(_, _, let attribute, _),
            .writeCommand(_, let attribute, _), .setNotifying(_, _, let attribute, _):
            attribute
        default: nil
        }
    }

    var channel: ChannelID? {
        switch self {
        case .sendOnChannel(let channel, _), .channelConsumed(let channel, _), .closeChannel(let channel): channel
        default: nil
        }
    }
}

extension CentralEvent {
    var peer: PeerID? {
        switch self {
        case .connected(let peer, _, _, _), .connectFailed(let peer, _, _), .nameChanged(let peer, _, _),
            .peerForgotten(let peer), .connectionEvent(let peer, _), .ancsAuthorizationChanged(let peer, _):
            peer
        case .discovered(let discovery): discovery.peer
        default: nil
        }
    }

    var link: LinkID? {
        switch self {
        case .connected(_, let link, _, _), .disconnected(let link, _, _, _), .mtuChanged(let link, _),
            .writeCredits(let link, _), .servicesChanged(let link, _, _), .rssiRead(let link, _, _),
            .servicesDiscovered(let link, _, _), .characteristicsDiscovered(let link, _, _),
            .descriptorsDiscovered(let link, _, _), .valueRead(let link, _, _), .written(let link, _),
            .notifyingChanged(let link, _, _), .valueNotified(let link, _, _), .channelOpened(let link, _, _, _),
            .operationFailed(let link, _, _):
            link
        default: nil
        }
    }

    var operation: OperationID? {
        switch self {
        case .connected(_, _, let operation, _), .connectFailed(_, let operation, _), .rssiRead(_, let operation, _),
            .servicesDiscovered(_, let operation, _), .characteristicsDiscovered(_, let operation, _),
            .descriptorsDiscovered(_, let operation, _), .valueRead(_, let operation, _), .written(_, let operation),
            .notifyingChanged(_, let operation, _), .channelOpened(_, let operation, _, _),
            .operationFailed(_, let operation, _):
            operation
        default: nil
        }
    }

    var channel: ChannelID? {
        switch self {
        case .channelOpened(_, _, let channel, _), .channelReceived(let channel, _), .channelCredits(let channel, _),
            .channelClosed(let channel):
            channel
        default: nil
        }
    }
}
