extension PeripheralCommand {
    /// A command without its content; the case names of ``PeripheralCommand``.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case addService, removeService, removeAllServices, startAdvertising, stopAdvertising, respond, updateValue,
            setConnectionLatency, publishChannel, unpublishChannel, sendOnChannel, channelConsumed, closeChannel
    }

    /// Which case this is.
    public var kind: Kind {
        switch self {
        case .addService: .addService
        case .removeService: .removeService
        case .removeAllServices: .removeAllServices
        case .startAdvertising: .startAdvertising
        case .stopAdvertising: .stopAdvertising
        case .respond: .respond
        case .updateValue: .updateValue
        case .setConnectionLatency: .setConnectionLatency
        case .publishChannel: .publishChannel
        case .unpublishChannel: .unpublishChannel
        case .channel(_, .send): .sendOnChannel
        case .channel(_, .consumed): .channelConsumed
        case .channel(_, .close): .closeChannel
        }
    }
}
