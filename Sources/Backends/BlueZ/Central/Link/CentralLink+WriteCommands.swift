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
extension CentralLink {
    /// Sends a write command over the socket or the bus.
    mutating func writeCommand(
        _ attribute: AttributeID, _ value: Data, _ operation: Operation, _ context: inout CentralContext
    ) {
        guard let path = object(attribute, operation, &context) else { return }
        switch writes[path] {
        case .socket:
            if let socket = writes.send(operation, value) { return context.perform(.write(value), on: socket) }
            giveBackSocket(&context)
            write(attribute, value, "command", operation, &context)
        case .calls where writes.isWorthAcquiring(path) && canAcquire(path, context.objects):
            let call = send(operation, path, "AcquireWrite", [.properties([:])], reply: .socket, &context)
            writes[path] = .acquiring(call)
        case .calls(let count):
            writes[path] = .calls(count + 1)
            write(attribute, value, "command", operation, &context)
        case .acquiring, .bus: write(attribute, value, "command", operation, &context)
        }
    }

    private func canAcquire(_ path: ObjectPath, _ objects: ObjectModel) -> Bool {
        objects.passesDescriptors
            && objects.characteristics[path]?.properties.contains(.writeWithoutResponse) == true
    }

    /// Whether an operation must wait until the daemon has read the socket, or has answered the request for one.
    mutating func mustWaitForWrites(_ operation: Operation, _ context: inout CentralContext) -> Bool {
        guard case .writeCommand(_, let attribute, let value) = operation.command,
            let path = attributes.path(of: attribute)
        else { return drain(&context) }
        switch writes[path] {
        case .acquiring: return true
        case .socket where writes.open?.takes(value) == true: return false
        // One at a time until the daemon has noticed, because two might overtake each other.
        case .bus where writes.isGoingBack && !inFlight.isEmpty: return true
        case .socket, .calls, .bus: return drain(&context)
        }
    }

    private mutating func drain(_ context: inout CentralContext) -> Bool {
        guard writes.isUndrained, let open = writes.open else { return false }
        if !writes.isDraining {
            writes.isDraining = true
            start(.draining, context.timings.attribute, &context)
            context.perform(.drain, on: open.id)
        }
        return true
    }

    /// Gives back a socket that the daemon does not read, so that waiting operations can run.
    mutating func drainTimedOut(_ context: inout CentralContext) {
        guard let open = writes.open else { return }
        context.log(.warning, "bluetoothd does not read its socket for write commands, which is given back")
        handleWriteSocket(open.id, .closed, &context)
    }

    /// Gives the socket back before a write that cannot use it.
    mutating func giveBackSocket(for path: ObjectPath? = nil, _ context: inout CentralContext) {
        guard let open = writes.open, path == nil || path == open.path else { return }
        context.perform(.close, on: open.id)
        stop(.draining, &context)
        writes.giveBack()
    }

    /// Whether an error only means that the daemon has not yet noticed the return of its socket.
    func isSocketGoing(_ operation: Operation, _ error: DBusError) -> Bool {
        guard error.name == "org.bluez.Error.NotPermitted", error.message == "Write acquired",
            let attribute = operation.command.attribute, let path = attributes.path(of: attribute)
        else { return false }
        return writes[path] == .bus && writes.isGoingBack
    }

    // MARK: Replies

    /// - Returns: Whether the reply belongs to `AcquireWrite`.
    mutating func acquired(
        _ id: CallID, _ operation: Operation, _ result: Result<MethodReply, DBusError>,
        _ context: inout CentralContext
    ) -> Bool {
        // Earlier commands over the bus may be answered only now.
        guard case .writeCommand(_, let attribute, let value) = operation.command,
            let path = attributes.path(of: attribute), writes[path] == .acquiring(id)
        else { return false }
        if case .success(.socket(let descriptor, let mtu)) = result, let socket = descriptor.release() {
            let id = LinkSocketID(number: context.outputs.newNumber(), peer: peer)
            context.perform(.adopt(socket), on: id)
            writes.opened(
                FastWrites.OpenSocket(
                    path: path, attribute: attribute, id: id,
                    limit: min(ATTLimits.written(mtu: max(Int(mtu), ATTLimits.minimumMTU)), ATTLimits.longestValue)))
        } else {
            if let error = result.failure { context.log(.debug, "AcquireWrite of \(path): \(error)") }
            writes[path] = .bus
        }
        writeCommand(attribute, value, operation, &context)
        return true
    }

    mutating func handleWriteSocket(
        _ socket: LinkSocketID, _ event: WriteSocket.Event, _ context: inout CentralContext
    ) {
        guard writes.open?.id == socket else { return }
        switch event {
        case .sent(let count):
            for credits in writes.sent(count) {
                context.deliver(credits.manager, .writeCredits(link: credits.link, count: credits.count))
            }
        case .drained:
            stop(.draining, &context)
            writes.drained()
            runOperations(&context)
        case .closed:
            giveBackSocket(&context)
            // Commands that the socket did not accept are sent over the bus before everything else.
            let unsent = writes.unsent
            writes.unsent = []
            for operation in unsent.reversed() { waiting.prepend(operation) }
            runOperations(&context)
        }
    }

    /// Closes the socket of a link that is gone.
    func closeWriteSocket(_ context: inout CentralContext) {
        if let socket = writes.open { context.perform(.close, on: socket.id) }
    }
}
#endif
