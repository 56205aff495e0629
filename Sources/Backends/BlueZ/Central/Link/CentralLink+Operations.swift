#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule
import FoundationEssentials

/// Reads, writes and subscriptions: one at a time per link, answered in order.
///
/// BlueZ pitfall: an attribute accepts one operation at a time, and a second one fails with `InProgress`
/// (https://github.com/hbldh/bleak/issues/1282); ATT allows one request per link anyway.
extension CentralLink {
    /// The next command to start, if the link accepts any.
    private var next: Operation? { isOpen && ending.lost == nil ? waiting.first : nil }

    /// Whether only write commands are in flight.
    private var mayWriteOn: Bool { inFlight.values.allSatisfy(\.command.isWriteCommand) }

    mutating func enqueue(_ operation: Operation, _ context: inout CentralContext) {
        if case .writeCommand(_, let attribute, let value) = operation.command,
            let socket = sendAtOnce(operation, attribute, value)
        {
            return context.perform(.write(value), on: socket)
        }
        waiting.append(operation)
        runOperations(&context)
    }

    /// Sends a write command over its characteristic's socket if nothing must precede it: the usual case.
    ///
    /// - Returns: The socket; nil if the command must wait.
    private mutating func sendAtOnce(
        _ operation: Operation, _ attribute: AttributeID, _ value: Data
    ) -> LinkSocketID? {
        guard writes.open?.attribute == attribute, attributes.path(of: attribute) != nil, waiting.isEmpty, mayWriteOn,
            isOpen, ending.lost == nil
        else { return nil }
        return writes.send(operation, value)
    }

    /// Starts the waiting operations that may start.
    mutating func runOperations(_ context: inout CentralContext) {
        while let next {
            guard context.ledger.peer(of: next.link) != nil else {
                waiting.removeFirst()
                continue
            }
            // Write commands run together, every other operation alone.
            let mayStart = next.command.isWriteCommand ? mayWriteOn : inFlight.isEmpty
            guard mayStart, !context.isRunning(.link(peer, .attributeRetry)) else { return }
            if mustWaitForWrites(next, &context) || next.command.isDiscovery && !isResolved(&context) { return }
            waiting.removeFirst()
            begin(next, &context)
        }
    }

    private mutating func begin(_ operation: Operation, _ context: inout CentralContext) {
        switch operation.command {
        case .request(_, _, .read(let attribute)): readValue(attribute, operation, &context)
        case .request(_, _, .write(let attribute, let value, let offset)):
            giveBackSocket(for: attributes.path(of: attribute), &context)
            write(attribute, value, from: offset, "request", operation, &context)
        case .writeCommand(_, let attribute, let value): writeCommand(attribute, value, operation, &context)
        case .request(_, _, .setNotifying(let attribute, let enabled)):
            setNotifying(attribute, enabled, operation, &context)
        case .request(_, _, .openChannel(let psm)): openChannel(psm, operation, &context)
        case .request(_, _, .readRSSI): readSignalStrength(operation, &context)
        default: answerDiscovery(operation, &context)
        }
    }

    /// Registers a new call for an operation.
    mutating func newCall(for operation: Operation, _ context: inout CentralContext) -> CallID {
        let id = CallID(number: context.outputs.newNumber(), peer: peer)
        inFlight[id] = operation
        return id
    }

    @discardableResult
    mutating func send(
        _ operation: Operation, _ path: ObjectPath, _ member: String, value: Data? = nil, _ body: [DBusValue],
        reply: MethodCall.ReplyContent = .nothing, _ context: inout CentralContext
    ) -> CallID {
        let interface =
            context.objects.descriptors[path] == nil ? GattCharacteristic1.interface : GattDescriptor1.interface
        let id = newCall(for: operation, &context)
        let call = MethodCall(
            path: path, interface: interface, member: member, value: value, body: body, reply: reply,
            deadline: context.timings.attribute)
        context.outputs.effects.append(.call(id, call))
        return id
    }

    private mutating func readValue(
        _ attribute: AttributeID, _ operation: Operation, _ context: inout CentralContext
    ) {
        guard let path = object(attribute, operation, &context) else { return }
        read = Read(path: path)
        send(operation, path, "ReadValue", [.properties([:])], reply: .value, &context)
    }

    mutating func write(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16 = 0, _ type: String, _ operation: Operation,
        _ context: inout CentralContext
    ) {
        guard let path = object(attribute, operation, &context) else { return }
        // Descriptors support requests only.
        var options: [String: DBusValue] = context.objects.descriptors[path] == nil ? ["type": .string(type)] : [:]
        if offset > 0 { options["offset"] = .uint16(offset) }
        send(operation, path, "WriteValue", value: value, [.properties(options)], &context)
    }

    // MARK: Replies

    mutating func replied(
        _ id: CallID, _ result: Result<MethodReply, DBusError>, _ context: inout CentralContext
    ) {
        guard let operation = inFlight.removeValue(forKey: id) else { return }
        // After bluetoothd has reported the end of the link, it answers pending calls with ATT error 0x0E. The end of
        // the link is the answer (S66).
        guard !ending.isDown else { return }
        if acquired(id, operation, result, &context) || acquiredNotifications(operation, result, &context) {
            return runOperations(&context)
        }
        switch result {
        case .success(let reply): succeeded(operation, reply, &context)
        case .failure(let error): failed(operation, error, &context)
        }
        runOperations(&context)
    }

    private mutating func succeeded(
        _ operation: Operation, _ reply: MethodReply, _ context: inout CentralContext
    ) {
        switch operation.command {
        case .request(_, _, .read):
            guard case .value(let value) = reply else {
                endReading(echo: nil, &context)
                let error = BackendError(.unknown, operation: "ReadValue", message: "a reply without bytes")
                return fail(operation, error, &context)
            }
            endReading(echo: value, &context)
            respond(operation, .value(value), &context)
        case .request(_, _, .write):
            writes.isGoingBack = false
            respond(operation, .written, &context)
        case .writeCommand(let link, _, _):
            context.deliver(operation.manager, .writeCredits(link: link, count: 1))
        case .request(_, _, .setNotifying(_, let enabled)): respond(operation, .notifying(enabled), &context)
        default: break
        }
    }

    private mutating func failed(_ operation: Operation, _ error: DBusError, _ context: inout CentralContext) {
        if hasNothingToEnd(operation, error) { return respond(operation, .notifying(false), &context) }
        if isSocketGoing(operation, error), operation.retries < context.timings.attributeRetries {
            return retry(operation, &context)
        }
        let member = operation.command.member
        switch ErrorMap.attribute(error, operation: member, isPaired: isPaired(context.objects)) {
        case .retry where operation.retries < context.timings.attributeRetries: retry(operation, &context)
        case .retry: endFailed(operation, ErrorMap.stillBusy(error, operation: member), &context)
        case .linkLost(let error):
            // The answer is the end of the link, which is not reported yet.
            ending.lost = (operation, error)
            start(.linkLoss, context.timings.linkLoss, &context)
        case .fail(let error):
            // 0x05, 0x0C and 0x0F: BlueZ has tried to pair, and reports the outcome in no other way.
            if let code = error.attCode, [0x05, 0x0C, 0x0F].contains(code) { context.reportSecurityFailed(peer) }
            endFailed(operation, error, &context)
        }
    }

    /// Whether BlueZ has a bond with the peer.
    func isPaired(_ objects: ObjectModel) -> Bool { objects.devices[path]?.isPaired ?? false }

    mutating func retry(_ operation: Operation, _ context: inout CentralContext) {
        endReading(echo: nil, &context)
        undoNotifying(operation, &context)
        var again = operation
        again.retries += 1
        waiting.prepend(again)
        start(.attributeRetry, context.timings.attributeRetry, &context)
    }

    mutating func endFailed(_ operation: Operation, _ error: BackendError, _ context: inout CentralContext) {
        endReading(echo: nil, &context)
        undoNotifying(operation, &context)
        if case .writeCommand(let link, _, _) = operation.command {
            context.log(.debug, "a write command to \(peer) failed: \(error)")
            return context.deliver(operation.manager, .writeCredits(link: link, count: 1))
        }
        fail(operation, error, &context)
    }

    func fail(_ operation: Operation, _ error: BackendError, _ context: inout CentralContext) {
        respond(operation, .failure(error), &context)
    }

    /// Responds to an operation, unless it is a command without a response.
    func respond(_ operation: Operation, _ response: LinkResponse, _ context: inout CentralContext) {
        guard let id = operation.command.operation else { return }
        context.deliver(operation.manager, .response(link: operation.link, operation: id, response))
    }
}
#endif
