import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// Requests that peripheral managers answer, at any later time.
extension GATT {
    /// Asks the manager that published an attribute for its value, starting at an offset.
    mutating func requestRead(
        _ attribute: AttributeID, _ answered: ATTTransaction, collected: Data = Data(), _ lower: inout LowerLayers
    ) {
        guard let (central, owner, number) = beginRequest(attribute, answered, collected, &lower) else { return }
        lower.context.emit(
            PeripheralEvent.readRequested(
                request: RequestID(rawValue: number), central: central, attribute: owner.local, offset: collected.count,
                mtu: answered.mtu), to: owner.manager)
    }

    /// Asks the manager for the next part of a long read.
    mutating func continueRead(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard !lower.links.isMissed(.continueRead(ref), on: ref), let link = lower.links[ref],
            let reading = self[ref]?.server.takeContinuing(),
            case .request(.read(let attribute)) = reading.operation.kind
        else { return }
        let answered = ATTTransaction(reading.operation, on: ref, link)
        requestRead(attribute, answered, collected: reading.collected, &lower)
    }

    /// Passes a write to the manager: whole, or in the parts of a long write.
    mutating func requestWrite(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16, _ answered: ATTTransaction,
        _ lower: inout LowerLayers
    ) {
        guard let (central, owner, number) = beginRequest(attribute, answered, Data(), &lower) else { return }
        lower.context.emit(
            PeripheralEvent.writeRequested(
                request: RequestID(rawValue: number), central: central, mtu: answered.mtu, wantsResponse: true,
                parts: Self.parts(of: value, from: offset, owner.local, mtu: answered.mtu)), to: owner.manager)
    }

    /// Registers a request to the manager that published an attribute; returns nil if it failed.
    private mutating func beginRequest(
        _ attribute: AttributeID, _ answered: ATTTransaction, _ collected: Data, _ lower: inout LowerLayers
    ) -> (PeerID, Attribute.Owner, number: UInt64)? {
        let name = answered.operation.kind.isRead ? "read" : "write"
        guard let central = lower.links[answered.ref]?.central else {
            release(answered.ref, &lower)
            return nil
        }
        guard let owner = lower.air.devices[answered.device]?.server.database[attribute]?.owner else {
            _ = fail(answered, .invalidHandle, name, &lower)
            return nil
        }
        guard lower.hosts.managers.contains(owner.manager) else {
            _ = fail(answered, .unlikelyError, name, &lower)
            return nil
        }
        return (central, owner, leaveOpen(answered, for: owner.manager, collected: collected, &lower.context))
    }

    /// Splits a long write; each Prepare Write carries an offset and up to MTU - 5 bytes (Core Specification, Vol 3,
    /// Part F, 3.4.6.1).
    private static func parts(of value: Data, from start: UInt16, _ attribute: AttributeID, mtu: Int) -> [WritePart] {
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
    func passCommand(_ attribute: AttributeID, _ value: Data, _ command: ATTTransaction, _ lower: inout LowerLayers) {
        guard let central = lower.links[command.ref]?.central,
            let owner = lower.air.devices[command.device]?.server.database[attribute]?.owner
        else { return }
        let number = lower.context.identifiers.nextRequest()
        lower.context.emit(
            PeripheralEvent.writeRequested(
                request: RequestID(rawValue: number), central: central, mtu: command.mtu, wantsResponse: false,
                parts: [WritePart(attribute: owner.local, offset: 0, value: value)]), to: owner.manager)
    }

    // MARK: Answers

    /// Handles a manager's answer to the request that is open on a link.
    mutating func respond(
        _ asked: LinkServer.PendingRequest, _ code: ATTCode, _ value: Data, on ref: Ref<Link>,
        _ lower: inout LowerLayers
    ) -> Demand? {
        guard let link = lower.links[ref] else { return nil }
        let operation = asked.operation
        stopTimeout(ref, &lower.context)
        guard code.rawValue == 0 else {
            let name = operation.kind.isRead ? "read" : "write"
            guard code != .insufficientAuthentication, code != .insufficientEncryption else {
                return fail(operation, code, on: ref, name, &lower)
            }
            let error = BackendError.att(code.rawValue, operation: name)
            answer(operation, .failure(error), on: ref, link, &lower)
            return nil
        }
        guard operation.kind.isRead else {
            answer(operation, .written, on: ref, link, &lower)
            return nil
        }
        // The value is truncated to one response; after a full response, the central asks for more.
        var reading = asked
        let length = ATTLimits.read(mtu: link.mtu)
        let part = value.prefix(min(length, ATTLimits.longestValue - reading.collected.count))
        reading.collected.append(part)
        guard part.count == length, reading.collected.count < ATTLimits.longestValue else {
            answer(operation, .value(reading.collected), ofLength: part.count + 1, on: ref, link, &lower)
            return nil
        }
        self[ref]?.server.continuing = reading
        let due = link.timing.connectionEvent(from: lower.context.now) + link.timing.interval
        lower.context.queue.schedule(.continueRead(ref), at: due + link.additionalTime(ofATT: [link.mtu]))
        return nil
    }

    /// Sends an answer with the next connection event.
    ///
    /// - Parameter length: The length of a response with a value, in bytes.
    private mutating func answer(
        _ operation: LinkOperation, _ response: LinkResponse, ofLength length: Int = 1, on ref: Ref<Link>, _ link: Link,
        _ lower: inout LowerLayers
    ) {
        let due = link.timing.connectionEvent(from: lower.context.now) + link.additionalTime(ofATT: [length])
        guard due > lower.context.now || link.supervision.isSilent else {
            return complete(operation, response, on: ref, &lower)
        }
        self[ref]?.client.finishing = (operation, response)
        lower.context.queue.schedule(.finish(ref), at: due)
    }

    /// Expires the open request of a manager when its link ends.
    mutating func expireRequest(on ref: Ref<Link>, _ context: inout WorldContext) {
        guard let asked = self[ref]?.server.takePending(), let manager = asked.manager else { return }
        context.emit(PeripheralEvent.requestExpired(request: RequestID(rawValue: asked.number)), to: manager)
    }

    /// Fails the requests on a link that a removed manager would have answered.
    mutating func failRequests(of manager: Ref<Manager>, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard let asked = self[ref]?.server.takePending(of: manager) else { return }
        stopTimeout(ref, &lower.context)
        _ = fail(asked.operation, .unlikelyError, on: ref, "request", &lower)
    }
}
