import BluetoothBackend
import BluetoothSupport

// The questions to a device's handler about connecting centrals, and the answers of asynchronous handlers.
extension World {
    // MARK: Connecting

    /// Returns whether the device's handler delays or refuses a connect.
    mutating func isHeldUp(connecting ref: Ref<Device>, to host: Int) -> Bool {
        guard let device = air.devices[ref], device.handler.isPresent else { return false }
        let peer = device.identity.peers[host]
        let request = ConnectionRequest(central: security.identity(of: hosts[host], at: ref, device))
        if device.handler.asynchronous != nil {
            ask(request, of: host, at: ref)
            return true
        }
        var actions = DeviceActions(now: .nanoseconds(context.now), date: context.date)
        let response = air.devices[ref]?.handler.behavior?.respond(to: request, device: &actions)
        for control in actions.controls { apply(control, to: ref) }
        return response.map { isRefused($0, peer, on: host) } ?? false
    }

    /// Returns whether a handler refused a connect, which then fails.
    private mutating func isRefused(_ response: ConnectionResponse, _ peer: PeerID, on host: Int) -> Bool {
        switch response {
        case .accepted: return false
        case .refused: failConnect(peer, on: host, .connectionFailed)
        case .failure(let error): failConnect(peer, on: host, .connectionFailed, carrying: error)
        }
        return true
    }

    /// Asks an asynchronous handler about a connect, unless it is already being asked.
    private mutating func ask(_ request: ConnectionRequest, of host: Int, at ref: Ref<Device>) {
        let epoch = hosts[host].adapter.epoch
        guard air.devices[ref]?.handler.askedConnects.updateValue(epoch, forKey: host) != epoch else { return }
        call(ref, .connection(request), for: .connect(host: host, epoch: epoch))
    }

    /// Asks asynchronous handlers again for the answers that were missing when a snapshot was taken.
    mutating func askHandlersAgain() {
        for ref in air.devices.refs {
            guard let device = air.devices[ref] else { continue }
            for (host, epoch) in device.handler.askedConnects.sorted(by: { $0.key < $1.key }) {
                let request = ConnectionRequest(central: security.identity(of: hosts[host], at: ref, device))
                call(ref, .connection(request), for: .connect(host: host, epoch: epoch))
            }
        }
        for ref in links.refs {
            guard let link = links[ref], let pending = link.server.pendingRequest, pending.manager == nil,
                let content = question(of: pending.operation, on: ref)
            else { continue }
            call(link.device, content, for: .operation(ref, pending.number))
        }
    }

    /// Returns an operation as a question to a handler; nil for an operation that the handler is not asked about.
    private mutating func question(of operation: LinkOperation, on ref: Ref<Link>) -> HandlerCall.Content? {
        guard let link = links[ref] else { return nil }
        let central = links.central(of: ref, hosts)
        switch operation.kind {
        case .request(.read(let attribute)):
            return air.devices[link.device]?.server.request(attribute, .read, from: central).map { .request($0) }
        case .request(.write(let attribute, let value, let offset)):
            let whole = air.devices[link.device]?.server.database.value(of: attribute, writing: value, from: offset)
            return air.devices[link.device]?.server.request(attribute, .write(whole ?? value), from: central).map {
                .request($0)
            }
        default: return procedure(of: link.answered(operation), on: ref).map { .procedure($0) }
        }
    }

    // MARK: Calls

    /// Asks an asynchronous handler about an operation, which stays open.
    mutating func ask(_ content: HandlerCall.Content, about answered: Link.CompletedRequest, on ref: Ref<Link>) {
        let number = context.identifiers.nextRequest()
        links[ref]?.server.pendingRequest = LinkServer.PendingRequest(number: number, operation: answered.operation)
        startTransactionTimeout(ref)
        call(answered.device, content, for: .operation(ref, number))
    }

    /// Calls a device's asynchronous handler, if it has one.
    mutating func call(_ ref: Ref<Device>, _ content: HandlerCall.Content, for origin: HandlerCall.Origin) {
        guard let handler = air.devices[ref]?.handler.asynchronous else { return }
        context.outputs.append(.call(HandlerCall(device: ref, handler: handler, content: content, origin: origin)))
    }

    // MARK: Answers

    /// Handles the answer of an asynchronous handler; after the end of the link it is ignored.
    mutating func answered(_ reply: HandlerReply) {
        switch (reply.origin, reply.answer) {
        case (.connect(let host, let epoch), .connection(let response)):
            guard air.devices[reply.device]?.handler.askedConnects[host] == epoch else { return }
            air.devices[reply.device]?.handler.askedConnects[host] = nil
            guard let peer = air.devices[reply.device]?.identity.peers[host], hosts[host].adapter.epoch == epoch else {
                return
            }
            if !isRefused(response, peer, on: host) { established(host, reply.device, epoch, .granted) }
        case (.operation(let link, let number), .request(let response)): answered(link, number, response)
        case (.operation(let link, let number), .procedure(let response)): answered(link, number, response)
        case (.command(let link, let attribute, let value), .request(.stored)):
            if links.contains(link) { store(value, attribute, reply.device, on: link) }
        default: break
        }
    }

    /// Handles a handler's answer to a discovery or a subscription.
    private mutating func answered(_ ref: Ref<Link>, _ number: UInt64, _ response: ProcedureResponse) {
        guard response != .unanswered, let answered = links[ref]?.takePendingRequest(number) else { return }
        stopTransactionTimeout(ref)
        switch response {
        case .granted: grant(answered.operation, on: ref)
        case .error(let code): fail(answered.operation, code, on: ref, "procedure")
        case .failure(let error): fail(answered.operation, carrying: error, on: ref, "procedure")
        case .unanswered: break
        }
    }
}
