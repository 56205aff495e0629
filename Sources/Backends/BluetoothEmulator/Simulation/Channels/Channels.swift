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
        _ psm: UInt16, by client: Ref<Manager>, on ref: Ref<Link>, _ link: Link, _ device: Device, _ radio: inout Radio
    ) -> Opening {
        let published = device.host.flatMap { listeners[Port(host: $0, psm: psm)] }
        let described = device.description.channels.first { $0.psm == psm }
        let isSupported = radio.hosts[link.host].adapter.features.contains(.channels)
        guard isSupported, let isEncryptionRequired = published?.isEncryptionRequired ?? described?.isEncryptionRequired
        else { return refuse(psm, .noService, on: ref, &radio.context) }
        if isEncryptionRequired, let code = link.security.refusal {
            let hasKeys = code == .insufficientEncryption
            return refuse(psm, hasKeys ? .insufficientEncryption : .insufficientAuthentication, on: ref, &radio.context)
        }
        let credits = max(1, radio.context.configuration.channelBuffer)
        last += 1
        let id = ChannelID(rawValue: last)
        channels[id] = Channel(link: ref, psm: psm, client: client, server: published?.manager, credits: credits)
        if radio.context.tapped.contains(.channels) {
            radio.context.report(.channelOpened(link: ref.serial, id, psm: psm, credits: credits))
        }
        if let manager = published?.manager, let central = link.central {
            radio.context.emit(
                PeripheralEvent.channelOpened(channel: id, psm: psm, central: central, credits: credits), to: manager)
        }
        return .opened(id, credits: credits, isDescribed: published == nil)
    }

    @discardableResult func refuse(
        _ psm: UInt16, _ refusal: ChannelRefusal, on ref: Ref<Link>, _ context: inout WorldContext
    ) -> Opening {
        if context.tapped.contains(.channels) { context.report(.channelRefused(link: ref.serial, psm: psm, refusal)) }
        return .refused(refusal)
    }

    // MARK: Sending

    mutating func handle(_ command: ChannelCommand, on id: ChannelID, of manager: Ref<Manager>, _ radio: inout Radio) {
        switch command {
        case .send(let data): send(data, on: id, by: manager, &radio)
        case .consumed(let bytes): consume(bytes, on: id, by: manager, &radio)
        case .close: close(id, by: manager, &radio)
        }
    }

    /// Returns the side of a channel that a manager uses; nil if it does not use the channel.
    private func side(of manager: Ref<Manager>, _ id: ChannelID) -> LinkSide? {
        guard let channel = channels[id] else { return nil }
        if channel.client == manager { return .central }
        return channel.server == manager ? .peripheral : nil
    }

    /// Sends a manager's bytes; bytes beyond its credits are dropped.
    private mutating func send(_ data: Data, on id: ChannelID, by manager: Ref<Manager>, _ radio: inout Radio) {
        guard let side = side(of: manager, id), let isAccepted = channels[id]?[side].accept(data) else { return }
        guard isAccepted else { return radio.context.log("bytes without credit on channel \(id) dropped") }
        move(id, side, &radio)
    }

    /// Sends bytes of a described device.
    mutating func send(_ data: Data, on id: ChannelID, of device: Ref<Device>, _ radio: inout Radio) {
        guard let ref = channels[id]?.link, channels[id]?.server == nil, radio.links[ref]?.device == device,
            channels[id]?[.peripheral].acceptUnmetered(data) == true
        else { return }
        move(id, .peripheral, &radio)
    }

    private mutating func move(_ id: ChannelID, _ side: LinkSide, _ radio: inout Radio) {
        guard let ref = channels[id]?.link, radio.links.contains(ref), channels[id]?.startMoving(side) == true else {
            return
        }
        let event = radio.links.connectionEvent(of: ref, from: radio.context.now)
        let due = event + radio.links.retransmissionTime(on: ref, &radio.air, &radio.context)
        radio.context.queue.schedule(.channelTransmit(id, side), at: due)
    }

    /// Sends as many bytes as a connection event carries.
    ///
    /// - Returns: The bytes; nil if the side does not send in this event.
    mutating func transmit(_ id: ChannelID, _ side: LinkSide, _ radio: inout Radio) -> Data? {
        guard let ref = channels[id]?.link, !radio.links.isMissed(.channelTransmit(id, side), on: ref),
            let timing = radio.links[ref]?.timing
        else { return nil }
        guard radio.links.beginEvent(for: .channel(id), by: side, on: ref, at: radio.context.now) else {
            radio.context.queue.schedule(.channelTransmit(id, side), at: radio.context.now)
            return nil
        }
        var data = Data()
        if timing.interval == 0 {
            data = channels[id]?.dequeue(from: side, limit: .max) ?? data
        } else {
            let payload = timing.packets.channelPayload
            while let wanted = channels[id]?.available(from: side, limit: payload), wanted > 0 {
                let length = timing.packets.dataLength - payload + wanted
                guard radio.links.send(length, of: .channel(id), by: side, on: ref) == length else { break }
                data.append(channels[id]?.dequeue(from: side, limit: wanted) ?? Data())
            }
        }
        channels[id]?[side].isMoving = false
        return data
    }

    /// Schedules what follows after a transmission.
    mutating func continueTransmitting(_ id: ChannelID, _ side: LinkSide, _ radio: inout Radio) -> DeviceNotice? {
        guard let ref = channels[id]?.link, let next = channels[id]?.continueMoving(side) else { return nil }
        guard case .transmit = next else { return end(id, by: side, &radio) }
        let due = radio.context.now + (radio.links[ref]?.timing.interval ?? 0)
        radio.context.queue.schedule(
            .channelTransmit(id, side), at: due + radio.links.retransmissionTime(on: ref, &radio.air, &radio.context))
        return nil
    }

    /// Delivers the bytes that a side sent.
    mutating func receive(_ data: Data, on id: ChannelID, from side: LinkSide, _ radio: inout Radio) -> DeviceNotice? {
        guard let channel = channels[id], !data.isEmpty else { return nil }
        if radio.context.tapped.contains(.channels) { radio.context.report(.channelData(id, from: side, data)) }
        // A side that closed its end receives nothing more.
        guard !channel[side.other].isEnding else {
            grantCredits(on: id, to: side, data.count, &radio)
            return nil
        }
        if emit(.received(data), on: id, channel, to: side.other, &radio.context) { return nil }
        guard let device = radio.links[channel.link]?.device else { return nil }
        grantCredits(on: id, to: side, data.count, &radio)
        if radio.air.devices[device]?.description.channels.first(where: { $0.psm == channel.psm })?.echo == true {
            send(data, on: id, of: device, &radio)
        }
        return (device, .channelReceived(id, data))
    }

    /// Consumes bytes for a manager; the credits return with the next connection event.
    private mutating func consume(_ bytes: Int, on id: ChannelID, by manager: Ref<Manager>, _ radio: inout Radio) {
        guard let sender = side(of: manager, id)?.other, let ref = channels[id]?.link, radio.links.contains(ref) else {
            return
        }
        let due = radio.links.connectionEvent(of: ref, from: radio.context.now)
        if due == radio.context.now { return grantCredits(on: id, to: sender, bytes, &radio) }
        radio.context.queue.schedule(.channelCredits(id, bytes, to: sender), at: due)
    }

    /// Returns credits to a sender.
    mutating func grantCredits(on id: ChannelID, to side: LinkSide, _ bytes: Int, _ radio: inout Radio) {
        guard let channel = channels[id], !radio.links.isMissed(.channelCredits(id, bytes, to: side), on: channel.link),
            let count = channels[id]?[side].returnCredits(bytes), count > 0
        else { return }
        if radio.context.tapped.contains(.channels) { radio.context.report(.channelCredits(id, to: side, count)) }
        if !emit(.credits(count), on: id, channel, to: side, &radio.context) { move(id, side, &radio) }
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
    private mutating func close(_ id: ChannelID, by manager: Ref<Manager>, _ radio: inout Radio) {
        guard let channel = channels[id] else { return }
        if channel.client == manager { close(id, by: .central, &radio) }
        if channel.server == manager { close(id, by: .peripheral, &radio) }
    }

    /// Closes a described device's end; bytes sent before still arrive.
    mutating func close(_ id: ChannelID, of device: Ref<Device>, _ radio: inout Radio) {
        guard let ref = channels[id]?.link, radio.links[ref]?.device == device else { return }
        close(id, by: .peripheral, &radio)
    }

    private mutating func close(_ id: ChannelID, by side: LinkSide, _ radio: inout Radio) {
        guard let ref = channels[id]?.link, radio.links.contains(ref), channels[id]?[side].end() == true else { return }
        radio.context.queue.schedule(
            .channelTransmit(id, side), at: radio.links.connectionEvent(of: ref, from: radio.context.now))
    }

    /// Closes the channels of a manager that releases its lease of a link or is removed.
    mutating func closeAll(of manager: Ref<Manager>, on ref: Ref<Link>, _ radio: inout Radio) {
        for id in ids(on: ref) { close(id, by: manager, &radio) }
    }

    /// Ends a channel; the other side receives an event.
    private mutating func end(_ id: ChannelID, by side: LinkSide, _ radio: inout Radio) -> DeviceNotice? {
        guard let channel = channels.removeValue(forKey: id) else { return nil }
        if radio.context.tapped.contains(.channels) { radio.context.report(.channelClosed(id, by: side)) }
        return channel[side.other].isEnding ? nil : reportClosed(id, channel, side.other, &radio)
    }

    private func reportClosed(
        _ id: ChannelID, _ channel: Channel, _ side: LinkSide, _ radio: inout Radio
    ) -> DeviceNotice? {
        guard !emit(.closed, on: id, channel, to: side, &radio.context), let device = radio.links[channel.link]?.device
        else { return nil }
        return (device, .channelClosed(id))
    }

    /// Ends the server's side of a channel when its end of the link ends.
    ///
    /// - Parameter isReported: Whether that side receives an event.
    mutating func endServerSide(of id: ChannelID, isReported: Bool, _ radio: inout Radio) -> DeviceNotice? {
        guard let channel = channels[id], channels[id]?[.peripheral].abort() == true, isReported else { return nil }
        return reportClosed(id, channel, .peripheral, &radio)
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
        _ psm: UInt16, _ operation: OperationID, by manager: Ref<Manager>, on host: Int, _ radio: inout Radio
    ) {
        guard listeners[Port(host: host, psm: psm)]?.manager == manager else {
            return radio.context.fail(operation, .invalidParameters, "unpublish channel \(psm)", of: manager)
        }
        listeners[Port(host: host, psm: psm)] = nil
        for id in channels.filter({ $0.value.psm == psm && $0.value.server == manager }).keys.sorted() {
            close(id, by: .peripheral, &radio)
        }
        radio.context.emit(PeripheralEvent.channelUnpublished(operation: operation, psm: psm), to: manager)
    }

    mutating func stopListening(on host: Int) { listeners = listeners.filter { $0.key.host != host } }

    mutating func stopListening(of manager: Ref<Manager>) {
        listeners = listeners.filter { $0.value.manager != manager }
    }
}
