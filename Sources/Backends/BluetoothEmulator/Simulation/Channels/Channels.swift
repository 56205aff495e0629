import BluetoothBackend

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
        return open(
            reserve(), psm, by: client, published?.manager, central: link.central, isEcho: described?.echo == true,
            on: ref, link, &lower)
    }

    private mutating func open(
        _ id: ChannelID, _ psm: UInt16, by client: Ref<Manager>, _ server: Ref<Manager>?, central: PeerID?,
        isEcho: Bool = false, on ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers
    ) -> Opening {
        let credits = max(1, lower.context.configuration.channelBuffer)
        channels[id] = Channel(
            id, on: ref, to: link.device, psm: psm, client: client, server: server, isEcho: isEcho, credits: credits)
        lower.context.report(.channelOpened(link: ref.serial, id, psm: psm, credits: credits))
        if let server, let central {
            lower.context.emit(
                PeripheralEvent.channelOpened(channel: id, psm: psm, central: central, credits: credits), to: server)
        }
        return .opened(id, credits: credits, isDescribed: server == nil)
    }

    func refuse(
        _ psm: UInt16, _ refusal: ChannelRefusal, on ref: Ref<Link>, _ context: inout WorldContext
    ) -> Opening {
        context.report(.channelRefused(link: ref.serial, psm: psm, refusal))
        return .refused(refusal)
    }

    /// Returns the identifier of a channel to come.
    mutating func reserve() -> ChannelID {
        last += 1
        return ChannelID(rawValue: last)
    }

    /// Opens a channel that a host outside of the emulator has accepted.
    mutating func accept(
        _ request: ChannelRequest, _ server: ExternalPeripheral, by client: Ref<Manager>, on ref: Ref<Link>,
        _ link: Link, _ lower: inout LowerLayers
    ) -> Opening {
        let central = lower.hosts.host(of: server.manager).map {
            lower.hosts[$0].identity.peerID(of: link.centralIdentity(lower.hosts).address)
        }
        return open(
            request.channel, request.psm, by: client, server.manager, central: central, on: ref, link, &lower)
    }

    // MARK: Commands

    /// Handles a command of a manager or a described device that uses a channel.
    mutating func handle(
        _ command: ChannelCommand, on id: ChannelID, of user: Channel.User, _ lower: inout LowerLayers
    ) { channels[id]?.handle(command, of: user, &lower) }

    /// Closes the channels of a manager that releases its lease of a link or is removed.
    mutating func closeAll(of manager: Ref<Manager>, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        for id in ids(on: ref) { handle(.close, on: id, of: .manager(manager), &lower) }
    }

    // MARK: Transmissions

    /// Sends as many bytes as a connection event carries.
    ///
    /// - Returns: The bytes; nil if the side does not send in this event.
    mutating func transmit(_ id: ChannelID, _ side: LinkSide, _ lower: inout LowerLayers) -> Data? {
        channels[id]?.transmit(side, &lower)
    }

    /// Delivers the bytes that a side sent.
    mutating func receive(
        _ data: Data, on id: ChannelID, from side: LinkSide, _ lower: inout LowerLayers
    ) -> Channel.DeviceNotice? { channels[id]?.receive(data, from: side, &lower) }

    /// Schedules the next transmission of a side, or ends the channel; the other side receives an event.
    mutating func continueTransmitting(
        _ id: ChannelID, _ side: LinkSide, _ lower: inout LowerLayers
    ) -> Channel.DeviceNotice? {
        guard channels[id]?.continueTransmitting(side, &lower) == true, let channel = channels.removeValue(forKey: id)
        else { return nil }
        lower.context.report(.channelClosed(id, by: side))
        return channel[side.other].isEnding ? nil : channel.reportClosed(to: side.other, &lower.context)
    }

    /// Returns credits to a sender.
    mutating func grantCredits(on id: ChannelID, to side: LinkSide, _ bytes: Int, _ lower: inout LowerLayers) {
        channels[id]?.grantCredits(bytes, to: side, &lower)
    }

    // MARK: Ended links

    /// Ends the server's side of a channel when its end of the link ends.
    ///
    /// - Parameter isReported: Whether that side receives an event.
    mutating func endServerSide(
        of id: ChannelID, isReported: Bool, _ context: inout WorldContext
    ) -> Channel.DeviceNotice? {
        guard channels[id]?[.peripheral].abort() == true, isReported else { return nil }
        return channels[id]?.reportClosed(to: .peripheral, &context)
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
            handle(.close, on: id, of: .manager(manager), &lower)
        }
        lower.context.emit(PeripheralEvent.channelUnpublished(operation: operation, psm: psm), to: manager)
    }

    mutating func stopListening(on host: Int) { listeners = listeners.filter { $0.key.host != host } }

    mutating func stopListening(of manager: Ref<Manager>) {
        listeners = listeners.filter { $0.value.manager != manager }
    }
}
