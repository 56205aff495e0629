import BluetoothBackend
import DequeModule

// How L2CAP channels end, and who listens for them.
extension World {
    // MARK: Closing

    /// A manager closes its end; bytes that it sent before still arrive.
    mutating func closeChannel(_ id: ChannelID, by manager: Ref<Manager>) {
        guard let channel = channels[id] else { return }
        if channel.client == manager { close(id, by: .central) }
        if channel.server == manager { close(id, by: .peripheral) }
    }

    /// One side closes its end.
    mutating func close(_ id: ChannelID, by side: LinkSide) {
        guard let channel = channels[id], !channel[side].isEnding, let link = links[channel.link] else { return }
        channels[id]?[side].isEnding = true
        guard !channel[side].isMoving else { return }
        channels[id]?[side].isMoving = true
        queue.schedule(.channelTransmit(id, side), at: link.timing.connectionEvent(from: now))
    }

    /// The channel is over; the other side hears of it.
    mutating func end(_ id: ChannelID, by side: LinkSide) {
        guard let channel = channels.remove(id) else { return }
        links[channel.link]?.channels.removeAll { $0 == id }
        if !channel[side.other].isEnding { tellClosed(id, channel, side.other) }
    }

    private mutating func tellClosed(_ id: ChannelID, _ channel: Channel, _ side: LinkSide) {
        switch (side, channel.manager(side)) {
        case (.central, let manager?): emit(CentralEvent.channel(id, .closed), to: manager)
        case (.peripheral, let manager?): emit(PeripheralEvent.channel(id, .closed), to: manager)
        case (_, nil):
            if let device = links[channel.link]?.device { handle(.channelClosed(id), at: device) }
        }
    }

    /// The server's end of a link ends, and with it that of its channels.
    mutating func closeServerChannels(of ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        let isOn = devices[link.device]?.host.map { hosts[$0].adapter.isOn } ?? true
        for id in link.channels {
            guard let channel = channels[id], !channel[.peripheral].isEnding else { continue }
            channels[id]?[.peripheral].isEnding = true
            channels[id]?[.peripheral].queue = []
            if isOn { tellClosed(id, channel, .peripheral) }
        }
    }

    /// A link ends, and with it its channels; the managers of its central get the event of the link.
    mutating func endChannels(of ref: Ref<Link>) {
        for id in links[ref]?.channels ?? [] { _ = channels.remove(id) }
        links[ref]?.channels = []
    }

    /// A manager releases its lease of a link, or is removed: its channels close.
    mutating func closeChannels(of manager: Ref<Manager>, on ref: Ref<Link>) {
        for id in links[ref]?.channels ?? [] {
            guard let channel = channels[id] else { continue }
            if channel.client == manager { close(id, by: .central) }
            if channel.server == manager { close(id, by: .peripheral) }
        }
    }

    // MARK: Listening

    /// Listens for channels on the first free number of the dynamic range (Core Specification, Vol 3, Part A, 4.22).
    mutating func publishChannel(
        _ operation: OperationID, isEncryptionRequired: Bool, _ ref: Ref<Manager>, on host: Int
    ) {
        guard let psm = (0x80...0xFF).first(where: { hosts[host].listeners[$0] == nil }) else {
            let error = BackendError(.outOfSpace, operation: "publish channel")
            return emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: ref)
        }
        hosts[host].listeners[psm] = Host.Listener(manager: ref, isEncryptionRequired: isEncryptionRequired)
        emit(PeripheralEvent.channelPublished(operation: operation, psm: psm), to: ref)
    }

    /// Listens no more; the channels of that number close (S154).
    mutating func unpublishChannel(_ psm: UInt16, _ operation: OperationID, _ ref: Ref<Manager>, on host: Int) {
        guard hosts[host].listeners[psm]?.manager == ref else {
            let error = BackendError(.invalidParameters, operation: "unpublish channel \(psm)")
            return emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: ref)
        }
        hosts[host].listeners[psm] = nil
        for id in channels.served(by: ref, at: psm) { close(id, by: .peripheral) }
        emit(PeripheralEvent.channelUnpublished(operation: operation, psm: psm), to: ref)
    }
}
