import BluetoothBackend
import BluetoothSupport
import DequeModule

// L2CAP channels, from the opening to the end.
extension World {
    // MARK: Opening

    /// Handles a central's request for a channel at the other side.
    mutating func openChannel(_ psm: UInt16, _ operation: LinkOperation, on ref: Ref<Link>) {
        guard let link = links[ref], let device = devices[link.device],
            managers[operation.manager]?.holds(operation.link) == true
        else { return release(ref) }
        let published = device.host.flatMap { hosts[$0].listeners[psm] }
        let described = device.description.channels.first { $0.psm == psm }
        let isSupported = hosts[link.host].adapter.features.contains(.channels)
        guard isSupported, let isEncryptionRequired = published?.isEncryptionRequired ?? described?.isEncryptionRequired
        else {
            reportRefusal(of: psm, .noService, on: ref)
            let error = BackendError(
                .operationNotSupported, operation: "open channel \(psm)", message: "no service listens there")
            return complete(operation, .failure(error), on: ref)
        }
        if isEncryptionRequired, let code = link.security.level.refusal {
            let hasKeys = code == .insufficientEncryption
            reportRefusal(of: psm, hasKeys ? .insufficientEncryption : .insufficientAuthentication, on: ref)
            return fail(operation, code, on: ref, "open channel")
        }
        let credits = max(1, context.configuration.channelBuffer)
        let id = channels.insert(
            Channel(link: ref, psm: psm, client: operation.manager, server: published?.manager, credits: credits))
        links[ref]?.channels.append(id)
        if context.tapped.contains(.channels) {
            context.report(.channelOpened(link: ref.serial, id, psm: psm, credits: credits))
        }
        if let manager = published?.manager, let central = link.server.central {
            context.emit(
                PeripheralEvent.channelOpened(channel: id, psm: psm, central: central, credits: credits), to: manager)
        }
        complete(operation, .channel(id, credits: credits), on: ref)
        if published == nil { handle(.channelOpened(identity(of: ref), id, psm: psm), at: link.device) }
    }

    // MARK: Sending

    mutating func handle(_ command: ChannelCommand, on id: ChannelID, of manager: Ref<Manager>) {
        switch command {
        case .send(let data): sendOnChannel(id, data, by: manager)
        case .consumed(let bytes): consume(id, bytes, by: manager)
        case .close: closeChannel(id, by: manager)
        }
    }

    /// Sends a manager's bytes; bytes beyond its credits are dropped.
    private mutating func sendOnChannel(_ id: ChannelID, _ data: Data, by manager: Ref<Manager>) {
        guard let side = channels.side(of: manager, id), let credits = channels[id]?[side].credits,
            channels[id]?[side].isEnding == false
        else { return }
        guard data.count <= credits else {
            return context.log("bytes without credit on channel \(id) dropped")
        }
        channels[id]?[side].credits = credits - data.count
        channels[id]?[side].queue.append(data)
        move(id, side)
    }

    /// Sends bytes of a described device, which wait for credits without a limit.
    mutating func sendOnChannel(_ id: ChannelID, _ data: Data, of device: Ref<Device>) {
        guard let channel = channels[id], channel.server == nil, links[channel.link]?.device == device,
            !channel[.peripheral].isEnding
        else { return }
        channels[id]?[.peripheral].queue.append(data)
        move(id, .peripheral)
    }

    private mutating func move(_ id: ChannelID, _ side: LinkSide) {
        guard let channel = channels[id], !channel[side].isMoving, let link = links[channel.link] else { return }
        guard channel.canMove(side) || channel[side].isEnding else { return }
        channels[id]?[side].isMoving = true
        let due = link.timing.connectionEvent(from: context.now) + retransmissionTime(on: channel.link)
        context.queue.schedule(.channelTransmit(id, side), at: due)
    }

    /// Sends as many bytes as a connection event carries.
    mutating func transmit(_ id: ChannelID, _ side: LinkSide) {
        guard let ref = channels[id]?.link, !isMissed(.channelTransmit(id, side), on: ref),
            let interval = links[ref]?.timing.interval
        else { return }
        guard beginEvent(for: .channel(id), by: side, on: ref) else {
            return context.queue.schedule(.channelTransmit(id, side), at: context.now)
        }
        let data = dequeue(id, side, on: ref)
        channels[id]?[side].isMoving = false
        if !data.isEmpty { receive(data, on: id, from: side) }
        guard let channel = channels[id] else { return }
        if channel.canMove(side) {
            channels[id]?[side].isMoving = true
            context.queue.schedule(.channelTransmit(id, side), at: context.now + interval + retransmissionTime(on: ref))
        } else if channel[side].isEnding, channel[side].queue.isEmpty {
            end(id, by: side)
        }
    }

    /// Removes the bytes that the present connection event carries; all bytes if the link has no connection interval.
    private mutating func dequeue(_ id: ChannelID, _ side: LinkSide, on ref: Ref<Link>) -> Data {
        guard let timing = links[ref]?.timing, timing.interval > 0 else {
            return channels[id]?.dequeue(from: side, limit: .max) ?? Data()
        }
        let payload = timing.packets.channelPayload
        var data = Data()
        while let wanted = channels[id]?.available(from: side, limit: payload), wanted > 0 {
            let length = timing.packets.dataLength - payload + wanted
            guard send(length, of: .channel(id), by: side, on: ref) == length else { break }
            data.append(channels[id]?.dequeue(from: side, limit: wanted) ?? Data())
        }
        return data
    }

    private mutating func receive(_ data: Data, on id: ChannelID, from side: LinkSide) {
        guard let channel = channels[id] else { return }
        if context.tapped.contains(.channels) { context.report(.channelData(id, from: side, data)) }
        let receiver = side.other
        // A side that closed its end receives nothing more.
        guard !channel[receiver].isEnding else { return grantCredits(on: id, to: side, data.count) }
        if emit(.received(data), on: id, channel, to: receiver) { return }
        guard let device = links[channel.link]?.device else { return }
        grantCredits(on: id, to: side, data.count)
        if devices[device]?.description.channels.first(where: { $0.psm == channel.psm })?.echo == true {
            sendOnChannel(id, data, of: device)
        }
        handle(.channelReceived(id, data), at: device)
    }

    /// Consumes bytes for a manager; the credits return with the next connection event.
    private mutating func consume(_ id: ChannelID, _ bytes: Int, by manager: Ref<Manager>) {
        guard let side = channels.side(of: manager, id), let link = channels[id].flatMap({ links[$0.link] }) else {
            return
        }
        let due = link.timing.connectionEvent(from: context.now)
        if due == context.now { return grantCredits(on: id, to: side.other, bytes) }
        context.queue.schedule(.channelCredits(id, bytes, to: side.other), at: due)
    }

    /// Returns credits to a sender.
    mutating func grantCredits(on id: ChannelID, to side: LinkSide, _ bytes: Int) {
        guard let channel = channels[id], !isMissed(.channelCredits(id, bytes, to: side), on: channel.link) else {
            return
        }
        let count = min(bytes, channel[side].unconsumed)
        guard count > 0 else { return }
        channels[id]?[side].unconsumed -= count
        channels[id]?[side].credits += count
        if context.tapped.contains(.channels) { context.report(.channelCredits(id, to: side, count)) }
        if !emit(.credits(count), on: id, channel, to: side) { move(id, side) }
    }

    // MARK: Closing

    /// Closes a manager's end; bytes sent before still arrive.
    mutating func closeChannel(_ id: ChannelID, by manager: Ref<Manager>) {
        guard let channel = channels[id] else { return }
        if channel.client == manager { close(id, by: .central) }
        if channel.server == manager { close(id, by: .peripheral) }
    }

    mutating func close(_ id: ChannelID, by side: LinkSide) {
        guard let channel = channels[id], !channel[side].isEnding, let link = links[channel.link] else { return }
        channels[id]?[side].isEnding = true
        guard !channel[side].isMoving else { return }
        channels[id]?[side].isMoving = true
        context.queue.schedule(.channelTransmit(id, side), at: link.timing.connectionEvent(from: context.now))
    }

    /// Ends a channel; the other side receives an event.
    mutating func end(_ id: ChannelID, by side: LinkSide) {
        guard let channel = channels.remove(id) else { return }
        if context.tapped.contains(.channels) { context.report(.channelClosed(id, by: side)) }
        links[channel.link]?.channels.removeAll { $0 == id }
        if !channel[side.other].isEnding { reportClosed(id, channel, side.other) }
    }

    private mutating func reportClosed(_ id: ChannelID, _ channel: Channel, _ side: LinkSide) {
        guard !emit(.closed, on: id, channel, to: side), let device = links[channel.link]?.device else { return }
        handle(.channelClosed(id), at: device)
    }

    /// Sends an event of a channel to the manager at a side.
    ///
    /// - Returns: Whether the side has a manager; a described device has none.
    private mutating func emit(
        _ event: ChannelEvent, on id: ChannelID, _ channel: Channel, to side: LinkSide
    ) -> Bool {
        guard let manager = channel.manager(side) else { return false }
        switch side {
        case .central: context.emit(CentralEvent.channel(id, event), to: manager)
        case .peripheral: context.emit(PeripheralEvent.channel(id, event), to: manager)
        }
        return true
    }

    /// Ends the server's side of a link's channels when its end of the link ends.
    mutating func closeServerChannels(of ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        let isOn = devices[link.device]?.host.map { hosts[$0].adapter.isOn } ?? true
        for id in link.channels {
            guard let channel = channels[id], !channel[.peripheral].isEnding else { continue }
            channels[id]?[.peripheral].isEnding = true
            channels[id]?[.peripheral].queue = []
            if isOn { reportClosed(id, channel, .peripheral) }
        }
    }

    /// Ends the channels of a link that ended; the managers of its central receive only the event of the link.
    mutating func endChannels(of ref: Ref<Link>) {
        for id in links[ref]?.channels ?? [] { _ = channels.remove(id) }
        links[ref]?.channels = []
    }

    /// Closes the channels of a manager that releases its lease of a link or is removed.
    mutating func closeChannels(of manager: Ref<Manager>, on ref: Ref<Link>) {
        for id in links[ref]?.channels ?? [] { closeChannel(id, by: manager) }
    }

    // MARK: Listening

    /// Listens for channels on the first free number of the dynamic range (Core Specification, Vol 3, Part A, 4.22).
    mutating func publishChannel(
        _ operation: OperationID, isEncryptionRequired: Bool, _ ref: Ref<Manager>, on host: Int
    ) {
        guard let psm = (0x80...0xFF).first(where: { hosts[host].listeners[$0] == nil }) else {
            return operationFailed(operation, .outOfSpace, "publish channel", ref)
        }
        hosts[host].listeners[psm] = Host.Listener(manager: ref, isEncryptionRequired: isEncryptionRequired)
        context.emit(PeripheralEvent.channelPublished(operation: operation, psm: psm), to: ref)
    }

    /// Stops listening; the channels of that PSM close (S154).
    mutating func unpublishChannel(_ psm: UInt16, _ operation: OperationID, _ ref: Ref<Manager>, on host: Int) {
        guard hosts[host].listeners[psm]?.manager == ref else {
            return operationFailed(operation, .invalidParameters, "unpublish channel \(psm)", ref)
        }
        hosts[host].listeners[psm] = nil
        for id in channels.served(by: ref, at: psm) { close(id, by: .peripheral) }
        context.emit(PeripheralEvent.channelUnpublished(operation: operation, psm: psm), to: ref)
    }
}
