#if os(Linux)
import BluetoothBackend

/// An open L2CAP channel of a manager.
struct OpenChannel<Origin: Equatable & Sendable>: Equatable, Sendable {
    let manager: HostLedger.Manager
    /// In the central role the peer, in the peripheral role the PSM.
    let origin: Origin
}

/// Whose channels are, and when they end.
extension AdapterRoleMachine {
    mutating func perform(_ action: ChannelPool.Action, on channel: ChannelID) {
        outputs.effects.append(.channel(channel, action))
    }

    /// A manager uses its channel, or closes it.
    mutating func use(_ channel: ChannelID, _ command: ChannelCommand, by manager: HostLedger.Manager) {
        guard channels[channel]?.manager == manager else { return }
        perform(.command(command), on: channel)
        if command == .close { channels[channel] = nil }
    }

    mutating func channelEnded(_ channel: ChannelID) {
        guard let owner = channels.removeValue(forKey: channel) else { return }
        deliver(owner.manager, .channel(channel, .closed))
    }

    /// The channels that meet a condition, in the order of their opening.
    func channels(where condition: (OpenChannel<ChannelOrigin>) -> Bool) -> [ChannelID] {
        channels.filter { condition($0.value) }.keys.sorted()
    }

    /// Power went; the state's event says so for all channels.
    mutating func abortChannels() {
        for channel in channels.keys.sorted() { perform(.abort, on: channel) }
        channels = [:]
    }
}
#endif
