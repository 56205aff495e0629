import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// Requests that peripheral managers answer, as late as they like.
extension World {
    /// Asks the manager that published an attribute for its value, from an offset on.
    mutating func requestRead(_ attribute: AttributeID, _ answered: Link.CompletedRequest, on ref: Ref<Link>) {
        askForPart(Link.PendingRequest(number: 0, operation: answered.operation), attribute, answered, on: ref)
    }

    /// The next part of a long read reaches the manager.
    mutating func continueRead(_ ref: Ref<Link>) {
        guard !isMissed(.continueRead(ref), on: ref), let reading = links[ref]?.continuing,
            let answered = links[ref]?.answered(reading.operation),
            case .request(.read(let attribute)) = reading.operation.kind
        else { return }
        links[ref]?.continuing = nil
        askForPart(reading, attribute, answered, on: ref)
    }

    private mutating func askForPart(
        _ reading: Link.PendingRequest, _ attribute: AttributeID, _ answered: Link.CompletedRequest, on ref: Ref<Link>
    ) {
        guard let central = links[ref]?.central else { return release(ref) }
        guard let owner = devices[answered.device]?.database[attribute]?.owner else {
            return fail(answered.operation, .invalidHandle, on: ref, "read")
        }
        guard managers.contains(owner.manager) else { return fail(answered.operation, .unlikelyError, on: ref, "read") }
        lastRequest += 1
        var asked = reading
        asked.number = lastRequest
        asked.manager = owner.manager
        links[ref]?.pendingRequest = asked
        startTransactionTimeout(ref)
        emit(
            PeripheralEvent.readRequested(
                request: RequestID(rawValue: lastRequest), central: central, attribute: owner.local,
                offset: asked.collected.count, mtu: answered.mtu), to: owner.manager)
    }

    /// Passes a write on: whole, or in the parts in which a long one was prepared.
    mutating func requestWrite(
        _ attribute: AttributeID, _ value: Data, _ answered: Link.CompletedRequest, on ref: Ref<Link>
    ) {
        guard let central = links[ref]?.central, let owner = devices[answered.device]?.database[attribute]?.owner
        else { return release(ref) }
        guard managers.contains(owner.manager) else {
            return fail(answered.operation, .unlikelyError, on: ref, "write")
        }
        lastRequest += 1
        links[ref]?.pendingRequest = Link.PendingRequest(
            number: lastRequest, operation: answered.operation, manager: owner.manager)
        startTransactionTimeout(ref)
        emit(
            PeripheralEvent.writeRequested(
                request: RequestID(rawValue: lastRequest), central: central, mtu: answered.mtu, wantsResponse: true,
                parts: Self.parts(of: value, owner.local, mtu: answered.mtu)), to: owner.manager)
    }

    /// What a server answers to the parts of a long write, if it does not keep them all.
    mutating func preparationRefusal(
        _ attribute: AttributeID, _ value: Data, _ answered: Link.CompletedRequest
    ) -> ATTCode? {
        guard value.count > answered.mtu - 3 else { return nil }
        let parts = RoundTrips.writing(count: value.count, mtu: answered.mtu) - 1
        let limit = devices[answered.device]?.prepareQueueLength ?? configuration.prepareQueueLength
        guard parts > limit else { return nil }
        let refusal = devices[answered.device]?.database.refusal(
            attribute, .writeable, .writeEncryptionRequired, .writeNotPermitted, on: answered.security)
        return refusal ?? .prepareQueueFull
    }

    /// Each Prepare Write carries an offset and up to MTU - 5 bytes (Core Specification, Vol 3, Part F, 3.4.6.1).
    private static func parts(of value: Data, _ attribute: AttributeID, mtu: Int) -> [WritePart] {
        guard value.count > mtu - 3 else { return [WritePart(attribute: attribute, offset: 0, value: value)] }
        return stride(from: 0, to: value.count, by: mtu - 5).map { offset in
            WritePart(attribute: attribute, offset: offset, value: Data(value.dropFirst(offset).prefix(mtu - 5)))
        }
    }

    /// Passes a write command on; its answer goes nowhere.
    mutating func passCommand(
        _ attribute: AttributeID, _ value: Data, _ command: Link.CompletedRequest, on ref: Ref<Link>
    ) {
        guard let central = links[ref]?.central, let owner = devices[command.device]?.database[attribute]?.owner
        else { return }
        lastRequest += 1
        emit(
            PeripheralEvent.writeRequested(
                request: RequestID(rawValue: lastRequest), central: central, mtu: command.mtu, wantsResponse: false,
                parts: [WritePart(attribute: owner.local, offset: 0, value: value)]), to: owner.manager)
    }

    // MARK: Answers

    /// A manager answers; a request that is not open is a write command or over, and gets nothing.
    mutating func respond(
        _ ref: Ref<Manager>, _ request: RequestID, _ code: ATTCode, _ value: Data, _ server: Ref<Device>
    ) {
        let link = devices[server]?.links.first { link in
            links[link]?.pendingRequest?.number == request.rawValue && links[link]?.pendingRequest?.manager == ref
        }
        guard let link, let asked = links[link]?.pendingRequest, let mtu = links[link]?.mtu else { return }
        links[link]?.pendingRequest = nil
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
        // What is more than a response takes is cut; a response that is full may not be all.
        var reading = asked
        let part = value.prefix(min(mtu - 1, 512 - reading.collected.count))
        reading.collected.append(part)
        guard part.count == mtu - 1, reading.collected.count < 512 else {
            return send(.value(reading.collected), to: operation, on: link)
        }
        links[link]?.continuing = reading
        let due = (links[link]?.connectionEvent(from: now) ?? now) + (links[link]?.interval ?? 0)
        queue.schedule(.continueRead(link), at: due)
    }

    /// The answer goes out with the next connection event.
    private mutating func send(_ response: LinkResponse, to operation: LinkOperation, on ref: Ref<Link>) {
        guard let due = links[ref]?.connectionEvent(from: now), let isSilent = links[ref]?.isSilent else { return }
        guard due > now || isSilent else { return complete(operation, response, on: ref) }
        links[ref]?.finishing = (operation, response)
        queue.schedule(.finish(ref), at: due)
    }

    /// The request that a manager left open is answered by the end of its link.
    mutating func expireRequest(on ref: Ref<Link>) {
        guard let asked = links[ref]?.pendingRequest, let manager = asked.manager else { return }
        links[ref]?.pendingRequest = nil
        emit(PeripheralEvent.requestExpired(request: RequestID(rawValue: asked.number)), to: manager)
    }
}
