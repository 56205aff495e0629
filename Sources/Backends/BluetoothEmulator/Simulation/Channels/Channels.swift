import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The L2CAP channels of all links, from the opening to the end, and the managers that listen for them.
struct Channels: Sendable {
    /// A number at which a host's managers listen.
    private struct Port: Hashable, Sendable {
        let host: Int
        let psm: UInt16
    }

    private struct Listener: Sendable {
        let manager: Ref<Manager>
        let isEncryptionRequired: Bool
    }

    /// An event of a channel that a described device's handler receives.
    typealias DeviceNotice = (device: Ref<Device>, event: DeviceEvent)

    private var channels: [ChannelID: Channel] = [:]
    private var last: UInt64 = 0
    private var listeners: [Port: Listener] = [:]

    /// Returns the channels of a link, in the order of their opening.
    func ids(on ref: Ref<Link>) -> [ChannelID] {
        channels.isEmpty ? [] : channels.filter { $0.value.link == ref }.keys.sorted()
    }

    // MARK: Opening

    /// The answer to a central's request for a channel.
    enum Opening: Sendable {
        /// The channel is open; with a described device if its end has no manager.
        case opened(ChannelID, credits: Int, isDescribed: Bool)
        case refused(ChannelRefusal)
    }

    /// Answers a central's request for a channel at the other side of a link.
    mutating func open(
        _ psm: UInt16, by client: Ref<Manager>, on ref: Ref<Link>, _ link: Link, _ device: Device,
        _ lower: inout LowerLayers
    ) -> Opening {
        let published = device.host.flatMap { listeners[Port(host: $0, psm: psm)] }
        let described = device.description.channels.first { $0.psm == psm }
        let isSupported = lower.hosts[link.host].adapter.features.contains(.channels)
        guard isSupported, let isEncryptionRequired = published?.isEncryptionRequired ?? described?.isEncryptionRequired
        else { return refuse(psm, .noService, on: ref, &lower.context) }
        if isEncryptionRequired, let code = link.security.refusal {
            let hasKeys = code == .insufficientEncryption
            return refuse(psm, hasKeys ? .insufficientEncryption : .insufficientAuthentication, on: ref, &lower.context)
        }
        let credits = max(1, lower.context.configuration.channelBuffer)
        last += 1
        let id = ChannelID(rawValue: last)
        channels[id] = Channel(link: ref, psm: psm, client: client, server: published?.manager, credits: credits)
        if lower.context.tapped.contains(.channels) {
            lower.context.report(.channelOpened(link: ref.serial, id, psm: psm, credits: credits))
        }
        if let manager = published?.manager, let central = link.central {
            lower.context.emit(
                PeripheralEvent.channelOpened(channel: id, psm: psm, central: central, credits: credits), to: manager)
        }
        return .opened(id, credits: credits, isDescribed: published == nil)
    }

    private func refuse(
        _ psm: UInt16, _ refusal: ChannelRefusal, on ref: Ref<Link>, _ context: inout WorldContext
    ) -> Opening {
        context.reportRefusal(of: psm, refusal, on: ref)
        return .refused(refusal)
    }

    // MARK: Sending

    mutating func handle(
        _ command: ChannelCommand, on id: ChannelID, of manager: Ref<Manager>, _ lower: inout LowerLayers
    ) {
        switch command {
        case .send(let data): send(data, on: id, by: manager, &lower)
        case .consumed(let bytes): consume(bytes, on: id, by: manager, &lower)
        case .close: close(id, by: manager, &lower)
        }
    }

    /// Returns the side of a channel that a manager uses; nil if it does not use the channel.
    private func side(of manager: Ref<Manager>, _ id: ChannelID) -> LinkSide? {
        guard let channel = channels[id] else { return nil }
        if channel.client == manager { return .central }
        return channel.server == manager ? .peripheral : nil
    }

    /// Sends a manager's bytes; bytes beyond its credits are dropped.
    private mutating func send(_ data: Data, on id: ChannelID, by manager: Ref<Manager>, _ lower: inout LowerLayers) {
        guard let side = side(of: manager, id), let isAccepted = channels[id]?[side].accept(data) else { return }
        guard isAccepted else { return lower.context.log("bytes without credit on channel \(id) dropped") }
        move(id, side, &lower)
    }

    /// Sends bytes of a described device.
    mutating func send(_ data: Data, on id: ChannelID, of device: Ref<Device>, _ lower: inout LowerLayers) {
        guard let ref = channels[id]?.link, channels[id]?.server == nil, lower.links[ref]?.device == device,
            channels[id]?[.peripheral].acceptUnmetered(data) == true
        else { return }
        move(id, .peripheral, &lower)
    }

    private mutating func move(_ id: ChannelID, _ side: LinkSide, _ lower: inout LowerLayers) {
        guard let ref = channels[id]?.link, lower.links.contains(ref), channels[id]?.startMoving(side) == true else {
            return
        }
        let event = lower.links.connectionEvent(of: ref, from: lower.context.now)
        let due = event + lower.links.retransmissionTime(on: ref, &lower.air, &lower.context)
        lower.context.queue.schedule(.channelTransmit(id, side), at: due)
    }

    /// Sends as many bytes as a connection event carries.
    ///
    /// - Returns: The bytes; nil if the side does not send in this event.
    mutating func transmit(_ id: ChannelID, _ side: LinkSide, _ lower: inout LowerLayers) -> Data? {
        guard let ref = channels[id]?.link, !lower.links.isMissed(.channelTransmit(id, side), on: ref),
            let timing = lower.links[ref]?.timing
        else { return nil }
        guard lower.links.beginEvent(for: .channel(id), by: side, on: ref, at: lower.context.now) else {
            lower.context.queue.schedule(.channelTransmit(id, side), at: lower.context.now)
            return nil
        }
        var data = Data()
        if timing.interval == 0 {
            data = channels[id]?.dequeue(from: side, limit: .max) ?? data
        } else {
            let payload = timing.packets.channelPayload
            while let wanted = channels[id]?.available(from: side, limit: payload), wanted > 0 {
                let length = timing.packets.dataLength - payload + wanted
                guard lower.links.send(length, of: .channel(id), by: side, on: ref) == length else { break }
                data.append(channels[id]?.dequeue(from: side, limit: wanted) ?? Data())
            }
        }
        channels[id]?[side].isMoving = false
        return data
    }

    /// Schedules what follows after a transmission.
    mutating func continueTransmitting(_ id: ChannelID, _ side: LinkSide, _ lower: inout LowerLayers) -> DeviceNotice? {
        guard let ref = channels[id]?.link, let next = channels[id]?.continueMoving(side) else { return nil }
        guard case .transmit = next else { return end(id, by: side, &lower) }
        let due = lower.context.now + (lower.links[ref]?.timing.interval ?? 0)
        lower.context.queue.schedule(
            .channelTransmit(id, side), at: due + lower.links.retransmissionTime(on: ref, &lower.air, &lower.context))
        return nil
    }

    /// Delivers the bytes that a side sent.
    mutating func receive(
        _ data: Data, on id: ChannelID, from side: LinkSide, _ lower: inout LowerLayers
    ) -> DeviceNotice? {
        guard let channel = channels[id], !data.isEmpty else { return nil }
        if lower.context.tapped.contains(.channels) { lower.context.report(.channelData(id, from: side, data)) }
        // A side that closed its end receives nothing more.
        guard !channel[side.other].isEnding else {
            grantCredits(on: id, to: side, data.count, &lower)
            return nil
        }
        if emit(.received(data), on: id, channel, to: side.other, &lower.context) { return nil }
        guard let device = lower.links[channel.link]?.device else { return nil }
        grantCredits(on: id, to: side, data.count, &lower)
        if lower.air.devices[device]?.description.channels.first(where: { $0.psm == channel.psm })?.echo == true {
            send(data, on: id, of: device, &lower)
        }
        return (device, .channelReceived(id, data))
    }

    /// Consumes bytes for a manager; the credits return with the next connection event.
    private mutating func consume(_ bytes: Int, on id: ChannelID, by manager: Ref<Manager>, _ lower: inout LowerLayers)
    {
        guard let sender = side(of: manager, id)?.other, let ref = channels[id]?.link, lower.links.contains(ref) else {
            return
        }
        let due = lower.links.connectionEvent(of: ref, from: lower.context.now)
        if due == lower.context.now { return grantCredits(on: id, to: sender, bytes, &lower) }
        lower.context.queue.schedule(.channelCredits(id, bytes, to: sender), at: due)
    }

    /// Returns credits to a sender.
    mutating func grantCredits(on id: ChannelID, to side: LinkSide, _ bytes: Int, _ lower: inout LowerLayers) {
        guard let channel = channels[id], !lower.links.isMissed(.channelCredits(id, bytes, to: side), on: channel.link),
            let count = channels[id]?[side].returnCredits(bytes), count > 0
        else { return }
        if lower.context.tapped.contains(.channels) { lower.context.report(.channelCredits(id, to: side, count)) }
        if !emit(.credits(count), on: id, channel, to: side, &lower.context) { move(id, side, &lower) }
    }

    /// Sends an event of a channel to the manager at a side.
    ///
    /// - Returns: Whether the side has a manager; a described device has none.
    private func emit(
        _ event: ChannelEvent, on id: ChannelID, _ channel: Channel, to side: LinkSide, _ context: inout WorldContext
    ) -> Bool {
        guard let manager = channel.manager(side) else { return false }
        switch side {
        case .central: context.emit(CentralEvent.channel(id, event), to: manager)
        case .peripheral: context.emit(PeripheralEvent.channel(id, event), to: manager)
        }
        return true
    }

    // MARK: Closing

    /// Closes a manager's end; bytes sent before still arrive.
    private mutating func close(_ id: ChannelID, by manager: Ref<Manager>, _ lower: inout LowerLayers) {
        guard let channel = channels[id] else { return }
        if channel.client == manager { close(id, by: .central, &lower) }
        if channel.server == manager { close(id, by: .peripheral, &lower) }
    }

    /// Closes a described device's end; bytes sent before still arrive.
    mutating func close(_ id: ChannelID, of device: Ref<Device>, _ lower: inout LowerLayers) {
        guard let ref = channels[id]?.link, lower.links[ref]?.device == device else { return }
        close(id, by: .peripheral, &lower)
    }

    private mutating func close(_ id: ChannelID, by side: LinkSide, _ lower: inout LowerLayers) {
        guard let ref = channels[id]?.link, lower.links.contains(ref), channels[id]?[side].end() == true else { return }
        lower.context.queue.schedule(
            .channelTransmit(id, side), at: lower.links.connectionEvent(of: ref, from: lower.context.now))
    }

    /// Closes the channels of a manager that releases its lease of a link or is removed.
    mutating func closeAll(of manager: Ref<Manager>, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        for id in ids(on: ref) { close(id, by: manager, &lower) }
    }

    /// Ends a channel; the other side receives an event.
    private mutating func end(_ id: ChannelID, by side: LinkSide, _ lower: inout LowerLayers) -> DeviceNotice? {
        guard let channel = channels.removeValue(forKey: id) else { return nil }
        if lower.context.tapped.contains(.channels) { lower.context.report(.channelClosed(id, by: side)) }
        return channel[side.other].isEnding ? nil : reportClosed(id, channel, side.other, &lower)
    }

    private func reportClosed(
        _ id: ChannelID, _ channel: Channel, _ side: LinkSide, _ lower: inout LowerLayers
    ) -> DeviceNotice? {
        guard !emit(.closed, on: id, channel, to: side, &lower.context), let device = lower.links[channel.link]?.device
        else { return nil }
        return (device, .channelClosed(id))
    }

    /// Ends the server's side of a channel when its end of the link ends.
    ///
    /// - Parameter isReported: Whether that side receives an event.
    mutating func endServerSide(of id: ChannelID, isReported: Bool, _ lower: inout LowerLayers) -> DeviceNotice? {
        guard let channel = channels[id], channels[id]?[.peripheral].abort() == true, isReported else { return nil }
        return reportClosed(id, channel, .peripheral, &lower)
    }

    /// Ends the channels of a link that ended; the managers of its central receive only the event of the link.
    mutating func endAll(of ref: Ref<Link>) { for id in ids(on: ref) { channels[id] = nil } }

    // MARK: Listening

    /// Listens for channels on the first free number of the dynamic range (Core Specification, Vol 3, Part A, 4.22).
    mutating func publish(
        _ operation: OperationID, isEncryptionRequired: Bool, by manager: Ref<Manager>, on host: Int,
        _ context: inout WorldContext
    ) {
        guard let psm = (0x80...0xFF).first(where: { listeners[Port(host: host, psm: $0)] == nil }) else {
            return context.fail(operation, .outOfSpace, "publish channel", of: manager)
        }
        listeners[Port(host: host, psm: psm)] = Listener(manager: manager, isEncryptionRequired: isEncryptionRequired)
        context.emit(PeripheralEvent.channelPublished(operation: operation, psm: psm), to: manager)
    }

    /// Stops listening; the channels of that PSM close (S154).
    mutating func unpublish(
        _ psm: UInt16, _ operation: OperationID, by manager: Ref<Manager>, on host: Int, _ lower: inout LowerLayers
    ) {
        guard listeners[Port(host: host, psm: psm)]?.manager == manager else {
            return lower.context.fail(operation, .invalidParameters, "unpublish channel \(psm)", of: manager)
        }
        listeners[Port(host: host, psm: psm)] = nil
        for id in channels.filter({ $0.value.psm == psm && $0.value.server == manager }).keys.sorted() {
            close(id, by: .peripheral, &lower)
        }
        lower.context.emit(PeripheralEvent.channelUnpublished(operation: operation, psm: psm), to: manager)
    }

    mutating func stopListening(on host: Int) { listeners = listeners.filter { $0.key.host != host } }

    mutating func stopListening(of manager: Ref<Manager>) {
        listeners = listeners.filter { $0.value.manager != manager }
    }
}
