#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import DequeModule
import FoundationEssentials

/// Reads, writes and subscriptions: one at a time per link, answered in order.
///
/// BlueZ pitfall: an attribute accepts one operation at a time, and a second one fails with `InProgress`
/// (https://github.com/hbldh/bleak/issues/1282); ATT allows one request per link anyway.
extension CentralRoleMachine {
    mutating func enqueue(_ command: CentralCommand, from manager: HostLedger.Manager) {
        guard let link = command.link, let peer = ledger.peer(of: link), let index = links.index(forKey: peer) else {
            return
        }
        let operation = LinkState.Operation(manager: manager, link: link, command: command)
        switch command {
        case .writeCommand(_, let attribute, let value):
            if let socket = links.values[index].update({ $0.sendAtOnce(operation, attribute, value) }) {
                return perform(.write(value), on: socket)
            }
            fallthrough
        default:
            links.values[index].waiting.append(operation)
            runOperations(peer)
        }
    }

    /// Starts the waiting operations that may start.
    mutating func runOperations(_ peer: PeerID) {
        while let next = links[peer]?.next {
            guard ledger.peer(of: next.link) != nil else {
                links[peer]?.waiting.removeFirst()
                continue
            }
            // Write commands run together, every other operation alone.
            let mayStart = next.command.isWriteCommand ? links[peer]?.mayWriteOn : links[peer]?.inFlight.isEmpty
            guard mayStart == true, !isRunning(.attributeRetry(peer)) else { return }
            if mustWaitForWrites(peer, next) || next.command.isDiscovery && !isResolved(peer) { return }
            links[peer]?.waiting.removeFirst()
            begin(peer, next)
        }
    }

    private mutating func begin(_ peer: PeerID, _ operation: LinkState.Operation) {
        switch operation.command {
        case .request(_, _, .read(let attribute)): read(peer, attribute, operation)
        case .request(_, _, .write(let attribute, let value, let offset)):
            giveBackSocket(peer, for: links[peer]?.attributes.path(of: attribute))
            write(peer, attribute, value, from: offset, "request", operation)
        case .writeCommand(_, let attribute, let value): writeCommand(peer, attribute, value, operation)
        case .request(_, _, .setNotifying(let attribute, let enabled)):
            setNotifying(peer, attribute, enabled, operation)
        case .request(_, _, .openChannel(let psm)): openChannel(psm, peer, operation)
        case .request(_, _, .readRSSI): readSignalStrength(peer, operation)
        default: answerDiscovery(peer, operation)
        }
    }

    @discardableResult
    mutating func send(
        _ peer: PeerID, _ operation: LinkState.Operation, _ path: ObjectPath, _ member: String,
        _ body: [DBusValue] = []
    ) -> CallID {
        let interface =
            objects.descriptors[path] == nil ? GattCharacteristic1.interface : GattDescriptor1.interface
        let id = newCall(for: operation, of: peer)
        outputs.effects.append(
            .call(
                id,
                MethodCall(
                    path: path, interface: interface, member: member, body: body, deadline: timings.attribute)))
        return id
    }

    private mutating func read(_ peer: PeerID, _ attribute: AttributeID, _ operation: LinkState.Operation) {
        guard let path = object(attribute, peer, operation) else { return }
        links[peer]?.read = LinkState.Read(path: path)
        send(peer, operation, path, "ReadValue", [.properties([:])])
    }

    mutating func write(
        _ peer: PeerID, _ attribute: AttributeID, _ value: Data, from offset: UInt16 = 0, _ type: String,
        _ operation: LinkState.Operation
    ) {
        guard let path = object(attribute, peer, operation) else { return }
        // Descriptors support requests only.
        var options: [String: DBusValue] = objects.descriptors[path] == nil ? ["type": .string(type)] : [:]
        if offset > 0 { options["offset"] = .uint16(offset) }
        send(peer, operation, path, "WriteValue", [.bytes(Array(value)), .properties(options)])
    }

    // MARK: Replies

    mutating func operationReplied(_ peer: PeerID, _ id: CallID, _ result: Result<[DBusValue], DBusError>) {
        guard let operation = links[peer]?.inFlight.removeValue(forKey: id) else { return }
        // After bluetoothd has reported the end of the link, it answers pending calls with ATT error 0x0E. The end of
        // the link is the answer (S66).
        guard links[peer]?.ending.isDown == false else { return }
        if acquired(peer, id, operation, result) || acquiredNotifications(peer, operation, result) {
            return runOperations(peer)
        }
        switch result {
        case .success(let body): succeeded(peer, operation, body)
        case .failure(let error): failed(peer, operation, error)
        }
        runOperations(peer)
    }

    private mutating func succeeded(_ peer: PeerID, _ operation: LinkState.Operation, _ body: [DBusValue]) {
        switch operation.command {
        case .request(_, _, .read):
            let value = body.first?.bytesValue.map { Data($0) }
            endReading(peer, echo: value)
            guard let value else {
                return fail(operation, BackendError(.unknown, operation: "ReadValue", message: "a reply without bytes"))
            }
            respond(operation, .value(value))
        case .request(_, _, .write):
            links[peer]?.writes.isGoingBack = false
            respond(operation, .written)
        case .writeCommand(let link, _, _): deliver(operation.manager, .writeCredits(link: link, count: 1))
        case .request(_, _, .setNotifying(_, let enabled)): respond(operation, .notifying(enabled))
        default: break
        }
    }

    private mutating func failed(_ peer: PeerID, _ operation: LinkState.Operation, _ error: DBusError) {
        if hasNothingToEnd(operation, error) { return respond(operation, .notifying(false)) }
        if isSocketGoing(peer, operation, error), operation.retries < timings.attributeRetries {
            return retry(peer, operation)
        }
        let member = operation.command.member
        switch ErrorMap.attribute(error, operation: member, isPaired: isPaired(peer)) {
        case .retry where operation.retries < timings.attributeRetries: retry(peer, operation)
        case .retry: endFailed(peer, operation, ErrorMap.stillBusy(error, operation: member))
        case .linkLost(let error):
            // The answer is the end of the link, which is not reported yet.
            links[peer]?.ending.lost = (operation, error)
            start(.linkLoss(peer), timings.linkLoss)
        case .fail(let error):
            // 0x05, 0x0C and 0x0F: BlueZ has tried to pair, and reports the outcome in no other way.
            if let code = error.attCode, [0x05, 0x0C, 0x0F].contains(code) { reportSecurityFailed(peer) }
            endFailed(peer, operation, error)
        }
    }

    /// Whether BlueZ has a bond with the peer of an open link.
    func isPaired(_ peer: PeerID) -> Bool { links[peer].flatMap { objects.devices[$0.path]?.isPaired } ?? false }

    mutating func retry(_ peer: PeerID, _ operation: LinkState.Operation) {
        endReading(peer, echo: nil)
        undoNotifying(peer, operation)
        var again = operation
        again.retries += 1
        links[peer]?.waiting.prepend(again)
        start(.attributeRetry(peer), timings.attributeRetry)
    }

    /// Handles an end of a link that was not reported: a link that was told to end counts as ended, another lives on.
    mutating func linkLossUnconfirmed(_ peer: PeerID) {
        if links[peer]?.ending.isClosing == true || links[peer]?.ending.reason != nil { return finishLinkDown(peer) }
        guard let (operation, error) = links[peer]?.ending.lost else { return }
        links[peer]?.ending.lost = nil
        endFailed(peer, operation, error)
        runOperations(peer)
    }

    mutating func endFailed(_ peer: PeerID, _ operation: LinkState.Operation, _ error: BackendError) {
        endReading(peer, echo: nil)
        undoNotifying(peer, operation)
        if case .writeCommand(let link, _, _) = operation.command {
            log(.debug, "a write command to \(peer) failed: \(error)")
            return deliver(operation.manager, .writeCredits(link: link, count: 1))
        }
        fail(operation, error)
    }

    mutating func fail(_ operation: LinkState.Operation, _ error: BackendError) { respond(operation, .failure(error)) }

    /// Responds to an operation, unless it is a command without a response.
    mutating func respond(_ operation: LinkState.Operation, _ response: LinkResponse) {
        guard let id = operation.command.operation else { return }
        deliver(operation.manager, .response(link: operation.link, operation: id, response))
    }
}
#endif
