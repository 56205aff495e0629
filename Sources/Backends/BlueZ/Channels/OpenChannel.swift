#if os(Linux)
import BluetoothBackend

/// An open L2CAP channel of a manager.
struct OpenChannel<Origin: Equatable & Sendable>: Equatable, Sendable {
    let manager: HostLedger.Manager
    /// The peer in the central role, the PSM in the peripheral role.
    let origin: Origin
}

/// The owner of a role's L2CAP channels: it performs actions on them, and handles their ends.
protocol ChannelOwner: EffectCollector where Input: AdapterRoleInput, Effect: AdapterRoleEffect {
    /// The type of ``OpenChannel/origin``.
    associatedtype ChannelOrigin: Equatable & Sendable

    /// The open channels.
    var channels: [ChannelID: OpenChannel<ChannelOrigin>] { get set }
}

extension ChannelOwner {
    mutating func perform(_ action: ChannelPool.Action, on channel: ChannelID) {
        outputs.effects.append(.channel(channel, action))
    }

    /// Passes on a manager's command if it owns the channel; a close removes the channel.
    mutating func use(_ channel: ChannelID, _ command: ChannelCommand, by manager: HostLedger.Manager) {
        guard channels[channel]?.manager == manager else { return }
        perform(.command(command), on: channel)
        if command == .close { channels[channel] = nil }
    }

    mutating func channelEnded(_ channel: ChannelID) {
        guard let owner = channels.removeValue(forKey: channel) else { return }
        deliver(owner.manager, .channel(channel, .closed))
    }

    /// Returns the channels that meet a condition, in the order in which they were opened.
    func channels(where condition: (OpenChannel<ChannelOrigin>) -> Bool) -> [ChannelID] {
        channels.filter { condition($0.value) }.keys.sorted()
    }

    /// Aborts all channels after a loss of power, which the state event reports.
    mutating func abortChannels() {
        for channel in channels.keys.sorted() { perform(.abort, on: channel) }
        channels = [:]
    }
}
#endif
