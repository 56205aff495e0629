extension CentralCommand {
    /// A command without its content, named as fault plans and traces name it.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case startScan, stopScan, connect, disconnect, setConnectionEventFilter, readRSSI, discoverServices,
            discoverIncludedServices, discoverCharacteristics, discoverDescriptors, read, write, writeCommand,
            setNotifying, openChannel, sendOnChannel, channelConsumed, closeChannel
    }

    /// The kind of this command.
    public var kind: Kind {
        switch self {
        case .startScan: .startScan
        case .stopScan: .stopScan
        case .connect: .connect
        case .disconnect: .disconnect
        case .setConnectionEventFilter: .setConnectionEventFilter
        case .request(_, _, let request): request.kind
        case .writeCommand: .writeCommand
        case .channel(_, .send): .sendOnChannel
        case .channel(_, .consumed): .channelConsumed
        case .channel(_, .close): .closeChannel
        }
    }
}

extension LinkRequest {
    fileprivate var kind: CentralCommand.Kind {
        switch self {
        case .readRSSI: .readRSSI
        case .discoverServices: .discoverServices
        case .discoverIncludedServices: .discoverIncludedServices
        case .discoverCharacteristics: .discoverCharacteristics
        case .discoverDescriptors: .discoverDescriptors
        case .read: .read
        case .write: .write
        case .setNotifying: .setNotifying
        case .openChannel: .openChannel
        }
    }
}
