extension CentralCommand {
    /// A command without its content; the case names of ``CentralCommand``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case startScan, stopScan, connect, disconnect, setConnectionEventFilter, readRSSI, discoverServices,
            discoverIncludedServices, discoverCharacteristics, discoverDescriptors, read, write, writeCommand,
            setNotifying, openChannel, sendOnChannel, channelConsumed, closeChannel
    }

    /// Which case this is.
    public var kind: Kind {
        switch self {
        case .startScan: .startScan
        case .stopScan: .stopScan
        case .connect: .connect
        case .disconnect: .disconnect
        case .setConnectionEventFilter: .setConnectionEventFilter
        case .readRSSI: .readRSSI
        case .discoverServices: .discoverServices
        case .discoverIncludedServices: .discoverIncludedServices
        case .discoverCharacteristics: .discoverCharacteristics
        case .discoverDescriptors: .discoverDescriptors
        case .read: .read
        case .write: .write
        case .writeCommand: .writeCommand
        case .setNotifying: .setNotifying
        case .openChannel: .openChannel
        case .sendOnChannel: .sendOnChannel
        case .channelConsumed: .channelConsumed
        case .closeChannel: .closeChannel
        }
    }
}
