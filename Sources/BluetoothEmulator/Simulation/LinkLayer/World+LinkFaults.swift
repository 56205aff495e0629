import BluetoothBackend
import BluetoothValues
import DequeModule

// Faults of the operations and values on a link.
extension World {
    // MARK: Operations

    /// Whether an operation meets a fault, and is not performed now.
    mutating func meetsFault(_ answered: Link.CompletedRequest, on ref: Ref<Link>) -> Bool {
        let operation = answered.operation
        guard !operation.isAdmitted, let (step, attribute) = step(of: answered, on: ref),
            let effect = takeFault(step, attribute, of: answered.device)
        else { return false }
        switch effect {
        case .fail(let code): refuse(operation, step, code, on: ref)
        case .delay(let time): postpone(operation, until: now + max(0, time.nanoseconds), on: ref)
        case .pause: postpone(operation, until: nil, on: ref)
        case .disconnect: terminate(ref, reason: .remote)
        }
        return true
    }

    private mutating func refuse(
        _ operation: LinkOperation, _ step: DeviceFault.Step, _ code: ATTCode, on ref: Ref<Link>
    ) {
        let error: BackendError
        switch step {
        case .readRSSI: error = BackendError(.unknown, operation: "read RSSI")
        case .openChannel: error = BackendError(.outOfSpace, operation: "open channel", message: "the peer has no room")
        default: return fail(operation, code, on: ref, step.rawValue)
        }
        complete(operation, .failure(error), on: ref)
    }

    /// Holds up an operation, and with it the queue if it is an ATT request, of which one is outstanding.
    private mutating func postpone(_ operation: LinkOperation, until due: Nanoseconds?, on ref: Ref<Link>) {
        links[ref]?.client.deferred.postpone(operation, until: due)
        if operation.kind.isATTRequest { startTransactionTimeout(ref) } else { release(ref) }
        if let due { queue.schedule(.performPostponed(ref), at: due) }
    }

    /// The step that an operation is to the device, and its attribute; nil for what needs no packet.
    private func step(of answered: Link.CompletedRequest, on ref: Ref<Link>) -> (DeviceFault.Step, AttributeID?)? {
        switch answered.operation.kind {
        case .request(.read(let attribute)): return (.read, attribute)
        case .request(.write(let attribute, _)): return (.write, attribute)
        case .request(.readRSSI): return (.readRSSI, nil)
        case .request(.openChannel): return (.openChannel, nil)
        default: break
        }
        guard let procedure = procedure(of: answered, on: ref) else { return nil }
        switch (procedure, answered.operation.kind) {
        case (.subscribe, .request(.setNotifying(let attribute, _))): return (.subscribe, attribute)
        case (.unsubscribe, .request(.setNotifying(let attribute, _))): return (.unsubscribe, attribute)
        case (.discoverDescriptors, .request(.discoverDescriptors(let attribute))):
            return (.discoverDescriptors, attribute)
        case (.discoverServices, _): return (.discoverServices, nil)
        case (.discoverIncludedServices, _): return (.discoverIncludedServices, nil)
        case (.discoverCharacteristics, _): return (.discoverCharacteristics, nil)
        default: return nil
        }
    }

    // MARK: Write commands

    /// A write command reaches a device with faults, or one with earlier commands to perform.
    ///
    /// - Returns: Whether it is not performed now.
    mutating func meetsFault(command: Link.CompletedRequest, on ref: Ref<Link>) -> Bool {
        guard case .writeCommand(let attribute, _) = command.operation.kind else { return false }
        let (operation, isFirst) = (command.operation, links[ref]?.client.deferred.hasCommands != true)
        let present = now
        switch takeFault(.writeCommand, attribute, of: command.device) {
        case nil where isFirst: return false
        case nil: links[ref]?.client.deferred.postponeCommand(operation, until: present)
        case .fail?: trace.note("write command lost by a fault", at: now)
        case .delay(let time)?:
            let due = present + max(0, time.nanoseconds)
            links[ref]?.client.deferred.postponeCommand(operation, until: due)
            queue.schedule(.performPostponed(ref), at: due)
        case .pause?: links[ref]?.client.deferred.postponeCommand(operation, until: nil)
        case .disconnect?: terminate(ref, reason: .remote)
        }
        return true
    }

    // MARK: Values

    /// The value that a device sends, as a fault leaves it; nil if it is lost.
    mutating func meetFault(_ item: LinkServer.Outgoing, on ref: Ref<Link>) -> LinkServer.Outgoing? {
        guard case .value(let attribute, _, _, let sender) = item, let device = links[ref]?.device,
            let effect = takeFault(.notify, attribute, of: device)
        else { return item }
        switch effect {
        case .fail:
            trace.note("value lost by a fault", at: now)
            if let sender { returnNotifyCredits(to: [sender], on: ref) }
            return nil
        case .delay(let time): return .held(item, until: now + max(0, time.nanoseconds))
        case .pause: return .held(item, until: nil)
        case .disconnect:
            terminate(ref, reason: .remote)
            return nil
        }
    }

    /// Resumes the device's queue if nothing holds up its head any more.
    mutating func unstall(_ ref: Ref<Link>) {
        guard links[ref]?.server.unstall() == true else { return }
        queue.schedule(.peerTransmit(ref), at: links[ref]?.timing.connectionEvent(from: now) ?? now)
    }
}
