import BluetoothBackend
import BluetoothSupport

// The handlers of devices: the questions and events that they receive, and what their answers do.
extension World {
    // MARK: Calls

    /// Calls the handler of a device in a step of the world, and performs the actions that it takes.
    private mutating func call<Response>(
        _ ref: Ref<Device>, _ body: (inout (any DeviceBehavior)?, inout DeviceActions) -> Response?
    ) -> Response? {
        var actions = DeviceActions(now: .nanoseconds(lower.context.now), date: lower.context.date)
        let response = lower.air.devices[ref]?.handler.call(body, &actions)
        for control in actions.controls { apply(control, to: ref) }
        return response
    }

    /// Calls a device's asynchronous handler, if it has one; returns whether it has.
    private mutating func callLater(
        _ ref: Ref<Device>, _ content: HandlerCall.Content, for origin: (inout World) -> HandlerCall.Origin
    ) -> Bool {
        guard let handler = lower.air.devices[ref]?.handler.asynchronous else { return false }
        let call = HandlerCall(device: ref, handler: handler, content: content, origin: origin(&self))
        lower.context.outputs.append(.call(call))
        return true
    }

    // MARK: Events

    mutating func handle(_ event: DeviceEvent, at ref: Ref<Device>) {
        if !callLater(ref, .event(event), for: { _ in .event }) { _ = call(ref) { $0?.handle(event, device: &$1) } }
    }

    mutating func handlerTimerFired(_ ref: Ref<Device>, _ number: Int, _ generation: UInt32) {
        guard lower.air.devices[ref]?.handler.timerFired(number, generation, of: ref, in: &lower.context.queue) == true
        else { return }
        handle(.timer(number), at: ref)
    }

    /// Sets a parameter of the handler, within its range.
    mutating func setParameter(_ parameter: DeviceParameter, _ value: Double, of ref: Ref<Device>) {
        guard let value = lower.air.devices[ref]?.setParameter(parameter, value, &lower.context) else { return }
        handle(.parameterChanged(parameter, value), at: ref)
    }

    // MARK: Connecting

    /// Returns whether the device's handler delays or refuses a connect.
    mutating func isHeldUp(connecting ref: Ref<Device>, _ device: Device, to host: Int, as peer: PeerID) -> Bool {
        guard let request = request(of: host, at: ref, device) else { return false }
        let epoch = lower.hosts[host].adapter.epoch
        if let isNew = lower.air.devices[ref]?.handler.ask(host, epoch) {
            // An asynchronous handler is not asked again while it is being asked.
            if isNew { _ = callLater(ref, .connection(request)) { _ in .connect(host: host, epoch: epoch) } }
            return true
        }
        return call(ref) { $0?.respond(to: request, device: &$1) }.map { isRefused($0, peer, on: host) } ?? false
    }

    /// Returns the question about a connect; nil without a handler.
    private func request(of host: Int, at ref: Ref<Device>, _ device: Device) -> ConnectionRequest? {
        guard device.handler.isPresent else { return nil }
        return ConnectionRequest(central: security.identity(of: lower.hosts[host], at: ref, device))
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

    // MARK: Operations

    /// Asks the device's handler about a read or a write.
    ///
    /// - Returns: nil if the answer comes later.
    mutating func ask(_ request: PeripheralRequest, about answered: ATTTransaction) -> PeripheralResponse? {
        if case .writeCommand(let attribute, let value) = answered.operation.kind {
            let isAsked = callLater(answered.link.device, .request(request)) { _ in
                .command(answered.ref, attribute, value)
            }
            if isAsked { return nil }
        } else if askLater(.request(request), about: answered) {
            return nil
        }
        return call(answered.link.device) { $0?.respond(to: request, device: &$1) }
    }

    /// Asks an asynchronous handler about an operation, which stays open; returns false if the device has none.
    private mutating func askLater(_ content: HandlerCall.Content, about answered: ATTTransaction) -> Bool {
        callLater(answered.link.device, content) { world in
            .operation(answered.ref, world.gatt.leaveOpen(answered, &world.lower.context))
        }
    }

    /// Asks the device's handler whether it grants a discovery or a subscription.
    ///
    /// If the handler refuses, the operation is answered; if it does not answer, the operation stays open.
    mutating func isGranted(_ answered: ATTTransaction) -> Bool {
        guard let device = lower.air.devices[answered.link.device], device.handler.isPresent,
            let procedure = gatt.procedure(of: answered, &lower)
        else { return true }
        if askLater(.procedure(procedure), about: answered) { return false }
        let response = call(answered.link.device) { $0?.respond(to: procedure, device: &$1) }
        guard let response, response != .granted else { return true }
        if response == .unanswered { gatt.startTimeout(answered.ref, &lower.context) }
        refuse(answered, response)
        return false
    }

    /// Asks the host outside of the emulator behind a device for a channel; returns false for another device.
    mutating func isAsked(_ device: Device, for psm: UInt16, about answered: ATTTransaction) -> Bool {
        guard device.handler.isExternal else { return false }
        let central = answered.link.centralIdentity(lower.hosts)
        return askLater(
            .channel(ChannelRequest(central: central, psm: psm, channel: channels.reserve())), about: answered)
    }

    // MARK: Answers

    /// Handles the answer of an asynchronous handler; after the end of the link it is ignored.
    mutating func answered(_ reply: HandlerReply) {
        switch (reply.origin, reply.answer) {
        case (.connect(let host, let epoch), .connection(let response)):
            guard let peer = lower.air.devices[reply.device]?.connectAnswered(host, epoch),
                lower.hosts[host].adapter.epoch == epoch
            else { return }
            if !isRefused(response, peer, on: host) { established(host, reply.device, epoch, .granted) }
        case (.operation(let link, let number), .request(let response)):
            guard response != .unanswered, let answered = gatt.takePending(number, on: link, &lower) else { return }
            handlerAnswered(response, to: answered, "request")
        case (.operation(let link, let number), .procedure(let response)):
            guard response != .unanswered, let answered = gatt.takePending(number, on: link, &lower) else { return }
            if response == .granted { grant(answered) } else { refuse(answered, response) }
        case (.operation(let link, let number), .channel(let request, let response)):
            guard let answered = gatt.takePending(number, on: link, &lower) else { return }
            channelAnswered(response, to: request, answered)
        case (.command(let ref, let attribute, let value), .request(.stored)):
            guard let link = lower.links[ref] else { return }
            let command = LinkOperation(manager: Hosts.otherApp, kind: .writeCommand(attribute, value))
            store(value, attribute, ATTTransaction(command, on: ref, link))
        default: break
        }
    }

    /// Asks asynchronous handlers again for the answers that were missing when a snapshot was taken.
    mutating func askHandlersAgain() {
        for (ref, device) in lower.air.devices.entries {
            for (host, epoch) in device.handler.askedConnects.sorted(by: { $0.key < $1.key }) {
                guard let request = request(of: host, at: ref, device) else { continue }
                _ = callLater(ref, .connection(request)) { _ in .connect(host: host, epoch: epoch) }
            }
        }
        for (ref, link) in lower.links.entries {
            guard let pending = gatt[ref]?.server.pendingRequest, pending.manager == nil,
                let content = question(of: ATTTransaction(pending.operation, on: ref, link))
            else { continue }
            _ = callLater(link.device, content) { _ in .operation(ref, pending.number) }
        }
    }

    /// Returns an operation as a question to a handler; nil for an operation that the handler is not asked about.
    private mutating func question(of answered: ATTTransaction) -> HandlerCall.Content? {
        guard var device = lower.air.devices[answered.link.device] else { return nil }
        return device.server.question(answered, &lower.hosts).map(HandlerCall.Content.request)
            ?? gatt.procedure(of: answered, &lower).map(HandlerCall.Content.procedure)
    }
}
