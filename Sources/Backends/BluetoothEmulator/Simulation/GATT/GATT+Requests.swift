import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// Requests that peripheral managers answer, at any later time.
extension GATT {
    /// Asks the manager that published an attribute for the rest of its value, or passes a write to it: whole, or in the
    /// parts of a long write.
    mutating func request(
        _ answered: ATTTransaction, of owner: Attribute.Owner, collected: Data = Data(), _ lower: inout LowerLayers
    ) {
        let (kind, mtu) = (answered.operation.kind, answered.link.mtu)
        guard let central = answered.link.central else { return release(answered.ref, &lower) }
        guard lower.hosts.managers.contains(owner.manager) else {
            _ = fail(answered, .unlikelyError, kind.isRead ? "read" : "write", &lower)
            return
        }
        let number = leaveOpen(answered, for: owner.manager, collected: collected, &lower.context)
        let request = RequestID(rawValue: number)
        let event: PeripheralEvent =
            if case .request(.write(_, let value, let offset)) = kind {
                .writeRequested(
                    request: request, central: central, mtu: mtu, wantsResponse: true,
                    parts: Self.parts(of: value, from: offset, owner.local, mtu: mtu))
            } else {
                .readRequested(
                    request: request, central: central, attribute: owner.local, offset: collected.count, mtu: mtu)
            }
        lower.context.emit(event, to: owner.manager)
    }

    /// Returns the manager that published an attribute of a link's device; nil if the attribute was removed.
    func owner(of attribute: AttributeID, on link: Link, _ lower: inout LowerLayers) -> Attribute.Owner? {
        lower.database(of: link)?[attribute]?.owner
    }

    /// Asks the manager for the next part of a long read.
    mutating func continueRead(_ ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard !lower.links.isMissed(.continueRead(ref), on: ref), let link = lower.links[ref],
            let reading = self[ref]?.server.continuing.take(),
            case .request(.read(let attribute)) = reading.operation.kind
        else { return }
        let answered = ATTTransaction(reading.operation, on: ref, link)
        guard let owner = owner(of: attribute, on: link, &lower) else {
            _ = fail(answered, .invalidHandle, "read", &lower)
            return
        }
        request(answered, of: owner, collected: reading.collected, &lower)
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
    func passCommand(
        _ value: Data, to owner: Attribute.Owner, _ command: ATTTransaction, _ lower: inout LowerLayers
    ) {
        guard let central = command.link.central else { return }
        let number = lower.context.identifiers.nextRequest()
        lower.context.emit(
            PeripheralEvent.writeRequested(
                request: RequestID(rawValue: number), central: central, mtu: command.link.mtu, wantsResponse: false,
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
                return fail(ATTTransaction(operation, on: ref, link), code, name, &lower)
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
        guard let asked = self[ref]?.server.takePending(if: { $0.manager != nil }), let manager = asked.manager
        else { return }
        context.emit(PeripheralEvent.requestExpired(request: RequestID(rawValue: asked.number)), to: manager)
    }

    /// Fails the requests on a link that a removed manager would have answered.
    mutating func failRequests(of manager: Ref<Manager>, on ref: Ref<Link>, _ lower: inout LowerLayers) {
        guard let asked = self[ref]?.server.takePending(if: { $0.manager == manager }) else { return }
        stopTimeout(ref, &lower.context)
        let error = BackendError.att(ATTCode.unlikelyError.rawValue, operation: "request")
        complete(asked.operation, .failure(error), on: ref, &lower)
    }
}
