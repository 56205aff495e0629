import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// Requests that peripheral managers answer, at any later time.
extension World {
    /// Asks the manager that published an attribute for its value, starting at an offset.
    mutating func requestRead(
        _ attribute: AttributeID, _ answered: Link.CompletedRequest, collected: Data = Data(), on ref: Ref<Link>
    ) {
        guard let (central, owner, number) = beginRequest(attribute, answered, collected, on: ref) else { return }
        context.emit(
            PeripheralEvent.readRequested(
                request: RequestID(rawValue: number), central: central, attribute: owner.local,
                offset: collected.count, mtu: answered.mtu), to: owner.manager)
    }

    /// Asks the manager for the next part of a long read.
    mutating func continueRead(_ ref: Ref<Link>) {
        guard !links.isMissed(.continueRead(ref), on: ref), let reading = links[ref]?.server.continuing,
            let answered = links[ref]?.answered(reading.operation),
            case .request(.read(let attribute)) = reading.operation.kind
        else { return }
        links[ref]?.server.continuing = nil
        requestRead(attribute, answered, collected: reading.collected, on: ref)
    }

    /// Passes a write to the manager: whole, or in the parts of a long write.
    mutating func requestWrite(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16, _ answered: Link.CompletedRequest,
        on ref: Ref<Link>
    ) {
        guard let (central, owner, number) = beginRequest(attribute, answered, on: ref) else { return }
        context.emit(
            PeripheralEvent.writeRequested(
                request: RequestID(rawValue: number), central: central, mtu: answered.mtu, wantsResponse: true,
                parts: Self.parts(of: value, from: offset, owner.local, mtu: answered.mtu)), to: owner.manager)
    }

    /// Registers a request to the manager that published an attribute; returns nil if it failed.
    private mutating func beginRequest(
        _ attribute: AttributeID, _ answered: Link.CompletedRequest, _ collected: Data = Data(), on ref: Ref<Link>
    ) -> (PeerID, Attribute.Owner, number: UInt64)? {
        let (operation, name) = (answered.operation, answered.operation.kind.isRead ? "read" : "write")
        guard let central = links[ref]?.server.central else {
            release(ref)
            return nil
        }
        guard let owner = air.devices[answered.device]?.server.database[attribute]?.owner else {
            fail(operation, .invalidHandle, on: ref, name)
            return nil
        }
        guard hosts.managers.contains(owner.manager) else {
            fail(operation, .unlikelyError, on: ref, name)
            return nil
        }
        let number = context.identifiers.nextRequest()
        links[ref]?.server.pendingRequest = LinkServer.PendingRequest(
            number: number, operation: operation, manager: owner.manager, collected: collected)
        startTransactionTimeout(ref)
        return (central, owner, number)
    }

    /// Returns the error for a long write with more parts than the server queues.
    mutating func preparationRefusal(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16, _ answered: Link.CompletedRequest
    ) -> ATTCode? {
        let parts = RoundTrips.writing(count: value.count, offset: offset, mtu: answered.mtu) - 1
        guard parts > 0 else { return nil }
        let limit =
            air.devices[answered.device]?.description.prepareQueueLength ?? context.configuration.prepareQueueLength
        guard parts > limit else { return nil }
        let refusal = air.devices[answered.device]?.server.database.refusal(
            attribute, isWrite: true, on: answered.security)
        return refusal ?? .prepareQueueFull
    }

    /// Splits a long write; each Prepare Write carries an offset and up to MTU - 5 bytes (Core Specification, Vol 3,
    /// Part F, 3.4.6.1).
    private static func parts(
        of value: Data, from start: UInt16, _ attribute: AttributeID, mtu: Int
    ) -> [WritePart] {
        guard ATTLimits.isPrepared(count: value.count, offset: start, mtu: mtu) else {
            return [WritePart(attribute: attribute, offset: 0, value: value)]
        }
        return RoundTrips.parts(count: value.count, mtu: mtu).map { range in
            WritePart(
                attribute: attribute, offset: Int(start) + range.lowerBound,
                value: Data(value.dropFirst(range.lowerBound).prefix(range.count)))
        }
    }

    /// Passes a write command to the manager, whose answer is ignored.
    mutating func passCommand(
        _ attribute: AttributeID, _ value: Data, _ command: Link.CompletedRequest, on ref: Ref<Link>
    ) {
        guard let central = links[ref]?.server.central,
            let owner = air.devices[command.device]?.server.database[attribute]?.owner
        else { return }
        let number = context.identifiers.nextRequest()
        context.emit(
            PeripheralEvent.writeRequested(
                request: RequestID(rawValue: number), central: central, mtu: command.mtu, wantsResponse: false,
                parts: [WritePart(attribute: owner.local, offset: 0, value: value)]), to: owner.manager)
    }

    // MARK: Answers

    /// Handles a manager's answer; answers to write commands and to requests that have ended are ignored.
    mutating func respond(
        _ ref: Ref<Manager>, _ request: RequestID, _ code: ATTCode, _ value: Data, _ server: Ref<Device>
    ) {
        let link = air.devices[server]?.links.first { link in
            links[link]?.server.pendingRequest?.number == request.rawValue
                && links[link]?.server.pendingRequest?.manager == ref
        }
        guard let link, let asked = links[link]?.server.pendingRequest, let mtu = links[link]?.mtu else { return }
        links[link]?.server.pendingRequest = nil
        stopTransactionTimeout(link)
        let operation = asked.operation
        guard code.rawValue == 0 else {
            let name = operation.kind.isRead ? "read" : "write"
            guard code != .insufficientAuthentication, code != .insufficientEncryption else {
                return fail(operation, code, on: link, name)
            }
            let error = BackendError.att(code.rawValue, operation: name)
            return send(.failure(error), to: operation, on: link)
        }
        guard operation.kind.isRead else { return send(.written, to: operation, on: link) }
        // The value is truncated to one response; after a full response, the central asks for more.
        var reading = asked
        let part = value.prefix(min(ATTLimits.read(mtu: mtu), ATTLimits.longestValue - reading.collected.count))
        reading.collected.append(part)
        guard part.count == ATTLimits.read(mtu: mtu), reading.collected.count < ATTLimits.longestValue else {
            return send(.value(reading.collected), ofLength: part.count + 1, to: operation, on: link)
        }
        links[link]?.server.continuing = reading
        let due =
            (links.connectionEvent(of: link, from: context.now))
            + (links[link]?.timing.interval ?? 0)
        context.queue.schedule(.continueRead(link), at: due + links.additionalTime(ofATT: [mtu], on: link))
    }

    /// Sends an answer with the next connection event.
    ///
    /// - Parameter length: The length of a response with a value, in bytes.
    private mutating func send(
        _ response: LinkResponse, ofLength length: Int = 1, to operation: LinkOperation, on ref: Ref<Link>
    ) {
        guard let event = links[ref]?.timing.connectionEvent(from: context.now),
            let isSilent = links[ref]?.supervision.isSilent
        else { return }
        let due = event + links.additionalTime(ofATT: [length], on: ref)
        guard due > context.now || isSilent else { return complete(operation, response, on: ref) }
        links[ref]?.client.finishing = (operation, response)
        context.queue.schedule(.finish(ref), at: due)
    }

    /// Expires the open request of a manager when its link ends.
    mutating func expireRequest(on ref: Ref<Link>) {
        guard let asked = links[ref]?.server.pendingRequest, let manager = asked.manager else { return }
        links[ref]?.server.pendingRequest = nil
        context.emit(PeripheralEvent.requestExpired(request: RequestID(rawValue: asked.number)), to: manager)
    }
}
