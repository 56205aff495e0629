import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The events that taps receive about the Attribute Protocol.
extension GATT {
    /// Reports the request at the head of a link's queue, unless it needs no ATT packet.
    mutating func reportRequest(
        _ start: LinkClient.Start, on ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers
    ) {
        let event: Nanoseconds
        switch start {
        case .transmit: return
        case .read(let due): event = due - link.timing.interval - link.timing.delays.read
        case .request(let due): event = due
        }
        guard let kind = self[ref]?.client.operations.first?.kind, kind.isATTRequest,
            let database = lower.database(of: link), roundTrips(of: kind, on: ref, link, database, &lower) > 0,
            let request = database.tappedRequest(kind)
        else { return }
        self[ref]?.client.hasReportedRequest = true
        lower.context.report(.att(link: ref.serial, .request(request, sentAt: .nanoseconds(event))))
    }

    /// Reports the response to the last reported request.
    mutating func reportResponse(
        _ response: LinkResponse, to kind: LinkOperation.Kind, on ref: Ref<Link>, _ lower: inout LowerLayers
    ) {
        guard self[ref]?.client.takeReportedRequest() == true, let link = lower.links[ref],
            let answer = lower.database(of: link)?.tappedResponse(to: kind, response)
        else { return }
        lower.context.report(.att(link: ref.serial, .response(answer)))
    }

    /// Reports a write command; one longer than the MTU allows is never sent.
    func reportCommand(_ command: ATTTransaction, _ lower: inout LowerLayers) {
        guard case .writeCommand(let attribute, let value) = command.operation.kind,
            value.count <= ATTLimits.written(mtu: command.link.mtu),
            let handle = lower.database(of: command.link)?[attribute]?.handle
        else { return }
        lower.context.report(.att(link: command.ref.serial, .command(handle: handle, value)))
    }

    /// Reports a notification or an indication.
    func reportDelivery(
        of item: LinkServer.Outgoing, on ref: Ref<Link>, _ link: Link, _ lower: inout LowerLayers
    ) {
        guard let database = lower.database(of: link) else { return }
        switch item {
        case .value(let attribute, let value, let needsConfirmation, _):
            guard let handle = database[attribute]?.handle else { return }
            let message =
                needsConfirmation ? ATTMessage.indication(handle: handle, value) : .notification(handle: handle, value)
            lower.context.report(.att(link: ref.serial, message))
        case .servicesChanged:
            // The range covers all handles: a central discovers again what it needs.
            guard let handle = database.serviceChangedHandle else { return }
            lower.context.report(.att(link: ref.serial, .indication(handle: handle, Data([0x01, 0x00, 0xFF, 0xFF]))))
        case .held, .last: break  // reported with its content
        }
    }
}
