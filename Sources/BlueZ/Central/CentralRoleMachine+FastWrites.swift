#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothValues
import DequeModule
import FoundationEssentials

/// Write commands over a socket to the daemon instead of the bus.
///
/// A socket is faster, and exclusive: while it is open, no program, including this one, can write the characteristic
/// over the bus. So it is acquired only if many commands are sent, and given back before any other write.
extension CentralRoleMachine {
    /// Sends a write command over the socket or the bus.
    mutating func writeCommand(
        _ peer: PeerID, _ attribute: AttributeID, _ value: Data, _ operation: LinkState.Operation
    ) {
        guard let path = object(attribute, peer, operation), let route = links[peer]?.writes[path] else { return }
        switch route {
        case .socket:
            if let socket = links[peer]?.writes.send(operation, value) { return perform(.write(value), on: socket) }
            giveBackSocket(peer)
            write(peer, attribute, value, "command", operation)
        case .calls where links[peer]?.writes.isWorthAcquiring(path) == true && canAcquire(path):
            let call = send(peer, operation, path, "AcquireWrite", [.properties([:])])
            links[peer]?.writes[path] = .acquiring(call)
        case .calls(let count):
            links[peer]?.writes[path] = .calls(count + 1)
            write(peer, attribute, value, "command", operation)
        case .acquiring, .bus: write(peer, attribute, value, "command", operation)
        }
    }

    private func canAcquire(_ path: ObjectPath) -> Bool {
        objects.passesDescriptors
            && objects.characteristics[path]?.properties.contains(.writeWithoutResponse) == true
    }

    /// Whether an operation must wait until the daemon has read the socket, or has answered the request for one.
    mutating func mustWaitForWrites(_ peer: PeerID, _ operation: LinkState.Operation) -> Bool {
        guard let link = links[peer] else { return false }
        guard case .writeCommand(_, let attribute, let value) = operation.command,
            let path = link.attributes.path(of: attribute)
        else { return drain(peer) }
        switch link.writes[path] {
        case .acquiring: return true
        case .socket where link.writes.open?.takes(value) == true: return false
        // One at a time until the daemon has noticed, because two might overtake each other.
        case .bus where link.writes.isGoingBack && !link.inFlight.isEmpty: return true
        case .socket, .calls, .bus: return drain(peer)
        }
    }

    private mutating func drain(_ peer: PeerID) -> Bool {
        guard let writes = links[peer]?.writes, writes.isUndrained, let open = writes.open else { return false }
        if !writes.isDraining {
            links[peer]?.writes.isDraining = true
            start(.draining(peer), timings.attribute)
            perform(.drain, on: open.id)
        }
        return true
    }

    /// Gives back a socket that the daemon does not read, so that waiting operations can run.
    mutating func drainTimedOut(_ peer: PeerID) {
        guard let open = links[peer]?.writes.open else { return }
        log(.warning, "bluetoothd does not read its socket for write commands, which is given back")
        handleWriteSocket(open.id, .closed)
    }

    /// Gives the socket back before a write that cannot use it.
    mutating func giveBackSocket(_ peer: PeerID, for path: ObjectPath? = nil) {
        guard let open = links[peer]?.writes.open, path == nil || path == open.path else { return }
        perform(.close, on: open.id)
        stop(.draining(peer))
        links[peer]?.writes.giveBack()
    }

    /// Whether an error only means that the daemon has not yet noticed the return of its socket.
    func isSocketGoing(_ peer: PeerID, _ operation: LinkState.Operation, _ error: DBusError) -> Bool {
        guard error.name == "org.bluez.Error.NotPermitted", error.message == "Write acquired",
            let attribute = operation.command.valueAttribute, let link = links[peer],
            let path = link.attributes.path(of: attribute)
        else { return false }
        return link.writes[path] == .bus && link.writes.isGoingBack
    }

    // MARK: Replies

    /// - Returns: Whether the reply belongs to `AcquireWrite`.
    mutating func acquired(
        _ peer: PeerID, _ id: CallID, _ operation: LinkState.Operation, _ result: Result<[DBusValue], DBusError>
    ) -> Bool {
        // Earlier commands over the bus may be answered only now.
        guard case .writeCommand(_, let attribute, let value) = operation.command,
            let path = links[peer]?.attributes.path(of: attribute), links[peer]?.writes[path] == .acquiring(id)
        else { return false }
        if case .success(let body) = result, body.count == 2, let descriptor = body[0].descriptorValue,
            let mtu = body[1].uint16Value, let socket = descriptor.release()
        {
            let id = LinkSocketID(number: outputs.newNumber(), peer: peer)
            perform(.adopt(socket), on: id)
            links[peer]?.writes.opened(
                FastWrites.OpenSocket(
                    path: path, attribute: attribute, id: id,
                    limit: min(ATTLimits.written(mtu: max(Int(mtu), ATTLimits.minimumMTU)), ATTLimits.longestValue)))
        } else {
            if let error = result.failure { log(.debug, "AcquireWrite of \(path): \(error)") }
            links[peer]?.writes[path] = .bus
        }
        writeCommand(peer, attribute, value, operation)
        return true
    }

    mutating func handleWriteSocket(_ socket: LinkSocketID, _ event: WriteSocket.Event) {
        let peer = socket.peer
        guard links[peer]?.writes.open?.id == socket else { return }
        switch event {
        case .sent(let count):
            for credits in links[peer]?.writes.sent(count) ?? [] {
                deliver(credits.manager, .writeCredits(link: credits.link, count: credits.count))
            }
        case .drained:
            stop(.draining(peer))
            links[peer]?.writes.drained()
            runOperations(peer)
        case .closed:
            giveBackSocket(peer)
            // Commands that the socket did not accept are sent over the bus before everything else.
            let unsent = links[peer]?.writes.unsent ?? []
            links[peer]?.writes.unsent = []
            for operation in unsent.reversed() { links[peer]?.waiting.prepend(operation) }
            runOperations(peer)
        }
    }

    /// Closes the socket of a link that is gone.
    mutating func closeWriteSocket(of link: CopyOnWrite<LinkState>) {
        if let socket = link.writes.open { perform(.close, on: socket.id) }
    }
}
#endif
