import BluetoothBackend
import BluetoothSupport

// The events that taps receive about links: the connection, the Attribute Protocol, security.
extension World {
    // MARK: Connections

    /// Returns a link for the taps; for a link that is just opening, the remembered services follow later.
    func tappedConnection(_ ref: Ref<Link>, isOpening: Bool = false) -> TappedConnection? {
        guard let link = links[ref], let device = air.devices[link.device] else { return nil }
        let central = hosts[link.host].identity
        let isCentralKnown = security.serverBond(link.device, device, with: hosts[link.host]) != nil
        // Changed addresses are still those of the link if the other side has no keys.
        let centralAddress = isCentralKnown ? nil : link.server.centralAddress
        let deviceAddress = hosts[link.host].peers[link.peer]?.address
        let bond = security[link.host].bonds[device.identity.identityAddress]
        let remembersServices = isOpening && link.security.refusal == nil && bond?.cache != nil
        return TappedConnection(
            link: ref.serial,
            central: TappedConnection.End(
                host: link.host, peer: link.server.central, address: centralAddress ?? central.airAddress,
                identityAddress: isCentralKnown ? central.address : nil),
            peripheral: TappedConnection.End(
                host: device.host, peer: link.peer, address: deviceAddress ?? device.identity.address,
                identityAddress: bond.map { _ in device.identity.identityAddress }),
            device: link.device.serial, parameters: link.timing.parameters, mtu: link.mtu,
            phy: link.timing.packets.phy, dataLength: link.timing.packets.dataLength, security: link.security,
            sharedLink: link.other.flatMap { $0 < ref ? $0.serial : nil },
            knowsServices: remembersServices || link.client.cache != nil)
    }

    mutating func reportOpening(of ref: Ref<Link>) {
        guard context.tapped.contains(.links), let connection = tappedConnection(ref, isOpening: true) else { return }
        context.report(.connectionOpened(connection))
    }

    // MARK: The Attribute Protocol

    /// Reports the request at the head of a link's queue, unless it needs no ATT packet.
    mutating func reportRequest(_ start: LinkClient.Start, on ref: Ref<Link>) {
        let event: Nanoseconds
        switch start {
        case .transmit: return
        case .read(let due):
            guard let timing = links[ref]?.timing else { return }
            event = due - timing.interval - timing.delays.read
        case .request(let due): event = due
        }
        guard let kind = links[ref]?.client.operations.first?.kind, kind.isATTRequest,
            roundTrips(of: kind, on: ref) > 0, let server = server(on: ref),
            let request = server.database.tappedRequest(kind, deviceName: server.deviceName)
        else { return }
        links[ref]?.client.hasReportedRequest = true
        context.report(.att(link: ref.serial, .request(request, sentAt: .nanoseconds(event))))
    }

    /// Reports the response to the last reported request.
    mutating func reportResponse(_ response: LinkResponse, to kind: LinkOperation.Kind, on ref: Ref<Link>) {
        guard links[ref]?.client.hasReportedRequest == true else { return }
        links[ref]?.client.hasReportedRequest = false
        guard let answer = server(on: ref)?.database.tappedResponse(to: kind, response) else { return }
        context.report(.att(link: ref.serial, .response(answer)))
    }

    /// Reports a write command; one longer than the MTU allows is never sent.
    mutating func reportCommand(_ command: Link.CompletedRequest, on ref: Ref<Link>) {
        guard case .writeCommand(let attribute, let value) = command.operation.kind,
            value.count <= ATTLimits.written(mtu: command.mtu),
            let handle = air.devices[command.device]?.server.database[attribute]?.handle
        else { return }
        context.report(.att(link: ref.serial, .command(handle: handle, value)))
    }

    /// Reports a notification or an indication.
    mutating func reportDelivery(of item: LinkServer.Outgoing, on ref: Ref<Link>) {
        guard let device = links[ref]?.device else { return }
        switch item {
        case .value(let attribute, let value, let needsConfirmation, _):
            guard let handle = air.devices[device]?.server.database[attribute]?.handle else { return }
            context.report(
                .att(
                    link: ref.serial,
                    needsConfirmation
                        ? .indication(handle: handle, value) : .notification(handle: handle, value)))
        case .servicesChanged:
            // The range covers all handles: a central discovers again what it needs.
            guard let handle = air.devices[device]?.server.database.serviceChangedHandle else { return }
            context.report(.att(link: ref.serial, .indication(handle: handle, Data([0x01, 0x00, 0xFF, 0xFF]))))
        case .held: break  // reported with its content
        }
    }

    private func server(on ref: Ref<Link>) -> GATTServer? { links[ref].flatMap { air.devices[$0.device]?.server } }
}

extension LinkTiming {
    var parameters: ConnectionParameters {
        ConnectionParameters(
            interval: .nanoseconds(interval), peripheralLatency: latency,
            supervisionTimeout: .nanoseconds(supervisionTimeout))
    }
}

extension LinkServer.Subscription {
    /// Prefers notifications if the properties offer both.
    init(preferredBy properties: CharacteristicProperties) {
        self = properties.contains(.notify) ? .notifications : .indications
    }
}
