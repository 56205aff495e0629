import BluetoothBackend

// The wiring of L2CAP channels: the operation that opens one, and the handlers of described devices.
extension World {
    /// Answers a central's request for a channel.
    mutating func openChannel(_ psm: UInt16, _ operation: LinkOperation, on ref: Ref<Link>) {
        guard let link = links[ref], let device = air.devices[link.device],
            hosts.managers[operation.manager]?.holds(operation.link) == true
        else { return release(ref) }
        switch channels.open(psm, by: operation.manager, on: ref, link, device, hosts, &context) {
        case .opened(let id, let credits, let isDescribed):
            complete(operation, .channel(id, credits: credits), on: ref)
            if isDescribed { handle(.channelOpened(links.central(of: ref, hosts), id, psm: psm), at: link.device) }
        case .refused(.insufficientEncryption): fail(operation, .insufficientEncryption, on: ref, "open channel")
        case .refused(.insufficientAuthentication):
            fail(operation, .insufficientAuthentication, on: ref, "open channel")
        case .refused:
            let error = BackendError(
                .operationNotSupported, operation: "open channel \(psm)", message: "no service listens there")
            complete(operation, .failure(error), on: ref)
        }
    }

    /// Transmits on a channel; a described device receives the bytes before the next transmission is scheduled.
    mutating func transmit(_ id: ChannelID, _ side: LinkSide) {
        guard let data = channels.transmit(id, side, &links, &context) else { return }
        notify(channels.receive(data, on: id, from: side, &links, &air, &context))
        notify(channels.continueTransmitting(id, side, &links, &air, &context))
    }

    /// Ends the server's side of a link's channels when its end of the link ends.
    mutating func endServerChannels(of ref: Ref<Link>, at device: Ref<Device>) {
        let isOn = air.devices[device]?.host.map { hosts[$0].adapter.isOn } ?? true
        for id in channels.ids(on: ref) { notify(channels.endServerSide(of: id, isReported: isOn, links, &context)) }
    }

    private mutating func notify(_ notice: Channels.DeviceNotice?) {
        if let notice { handle(notice.event, at: notice.device) }
    }
}
