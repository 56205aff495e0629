import BluetoothBackend
import BluetoothSupport

// The faults and the recorded delays that hold up operations.
extension GATT {
    /// Whether an operation is performed now.
    enum Admission: Sendable {
        case admitted
        /// The operation is held up, refused or lost.
        case held
        case demanding(Demand)

        init(_ demand: Demand?) { self = demand.map(Admission.demanding) ?? .held }
    }

    /// Applies the fault or the recorded delay of an operation.
    mutating func admit(_ answered: ATTTransaction, _ lower: inout LowerLayers) -> Admission {
        guard lower.air.devices[answered.device]?.mayHoldUpOperations != false else { return .admitted }
        let operation = answered.operation
        let step = step(of: answered, &lower)
        if !operation.isAdmitted, let (step, attribute) = step,
            let fault = lower.air.devices[answered.device]?.takeFault(
                step, attribute, at: answered.device, &lower.context)
        {
            switch fault {
            case .fail(let code): return Admission(refuse(answered, step, code, &lower))
            case .delay(let time): postpone(answered, until: lower.context.now + max(0, time.nanoseconds), &lower)
            case .pause: postpone(answered, until: nil, &lower)
            case .disconnect: return .demanding(.disconnection)
            }
            return .held
        }
        // A replayed device may answer later than the link would allow.
        guard let (step, attribute) = step, let attribute,
            let time = lower.air.devices[answered.device]?.recordedResponseTime(
                step, attribute, operation.kind.written), let start = self[answered.ref]?.client.startedAt,
            start + time.nanoseconds > lower.context.now
        else { return .admitted }
        postpone(answered, until: start + time.nanoseconds, &lower)
        return .held
    }

    private mutating func refuse(
        _ answered: ATTTransaction, _ step: DeviceFault.Step, _ code: ATTCode, _ lower: inout LowerLayers
    ) -> Demand? {
        let error: BackendError
        switch step {
        case .readRSSI: error = BackendError(.unknown, operation: "read RSSI")
        case .openChannel:
            if case .request(.openChannel(let psm)) = answered.operation.kind {
                lower.context.reportRefusal(of: psm, .noResources, on: answered.ref)
            }
            error = BackendError(.outOfSpace, operation: "open channel", message: "the peer has no room")
        default: return fail(answered, code, step.rawValue, &lower)
        }
        complete(answered.operation, .failure(error), on: answered.ref, &lower)
        return nil
    }

    /// Holds up an operation; an ATT request also holds up the queue, because only one is outstanding.
    private mutating func postpone(_ answered: ATTTransaction, until due: Nanoseconds?, _ lower: inout LowerLayers) {
        let ref = answered.ref
        self[ref]?.client.deferred.postpone(answered.operation, until: due)
        if answered.operation.kind.isATTRequest { startTimeout(ref, &lower.context) } else { release(ref, &lower) }
        if let due { lower.context.queue.schedule(.performPostponed(ref), at: due) }
    }

    /// Returns the device step of an operation, and its attribute; nil for an operation that needs no packet.
    private func step(of answered: ATTTransaction, _ lower: inout LowerLayers) -> (DeviceFault.Step, AttributeID?)? {
        switch answered.operation.kind {
        case .request(.read(let attribute)): return (.read, attribute)
        case .request(.write(let attribute, _, _)): return (.write, attribute)
        case .request(.readRSSI): return (.readRSSI, nil)
        case .request(.openChannel): return (.openChannel, nil)
        case _ where procedure(of: answered, &lower) == nil: return nil
        case .request(.setNotifying(let attribute, let isOn)): return (isOn ? .subscribe : .unsubscribe, attribute)
        case .request(.discoverDescriptors(let attribute)): return (.discoverDescriptors, attribute)
        case .request(.discoverServices): return (.discoverServices, nil)
        case .request(.discoverIncludedServices): return (.discoverIncludedServices, nil)
        case .request(.discoverCharacteristics): return (.discoverCharacteristics, nil)
        case .writeCommand, .deviceName: return nil
        }
    }

    /// Returns the procedure of an operation; nil for an operation that the handler is not asked about.
    func procedure(of answered: ATTTransaction, _ lower: inout LowerLayers) -> PeripheralProcedure? {
        let kind = answered.operation.kind
        if kind.isDiscovery, self[answered.ref]?.client.cache != nil { return nil }
        switch kind {
        case .request(.discoverServices(let types)):
            let central = lower.links.central(of: answered.ref, lower.hosts)
            return PeripheralProcedure(central: central, kind: .discoverServices, types: types)
        case .request(.discoverIncludedServices(let service, let types)):
            return procedure(.discoverIncludedServices, of: service, types, answered, &lower)
        case .request(.discoverCharacteristics(let service, let types)):
            return procedure(.discoverCharacteristics, of: service, types, answered, &lower)
        case .request(.discoverDescriptors(let characteristic)):
            return procedure(.discoverDescriptors, of: characteristic, nil, answered, &lower)
        case .request(.setNotifying(let attribute, let isOn)):
            // The host writes the configuration only for its first and its last subscriber.
            let others = lower.hosts[answered.host].ledger.subscribers(of: attribute, at: answered.peer).count
            guard others <= (isOn ? 0 : 1) else { return nil }
            return procedure(isOn ? .subscribe : .unsubscribe, of: attribute, nil, answered, &lower)
        default: return nil
        }
    }

    /// Returns a procedure that concerns an attribute; nil if the attribute was removed.
    private func procedure(
        _ kind: PeripheralProcedure.Kind, of attribute: AttributeID, _ types: [BluetoothUUID]?,
        _ answered: ATTTransaction, _ lower: inout LowerLayers
    ) -> PeripheralProcedure? {
        guard let server = lower.air.devices[answered.device]?.server, let uuid = server.database[attribute]?.uuid
        else { return nil }
        return PeripheralProcedure(
            central: lower.links.central(of: answered.ref, lower.hosts), kind: kind, types: types, attribute: attribute,
            uuid: uuid, position: server.position(of: attribute))
    }

    // MARK: Write commands

    /// Applies the fault of a write command; one behind held-up commands waits for its turn.
    mutating func admit(command: ATTTransaction, _ lower: inout LowerLayers) -> Admission {
        guard case .writeCommand(let attribute, _) = command.operation.kind else { return .admitted }
        let (operation, ref) = (command.operation, command.ref)
        switch lower.air.devices[command.device]?.takeFault(
            .writeCommand, attribute, at: command.device, &lower.context)
        {
        case nil where self[ref]?.client.deferred.hasCommands != true: return .admitted
        case nil: self[ref]?.client.deferred.postpone(operation, until: lower.context.now)
        case .fail?: lower.context.log("write command lost by a fault")
        case .delay(let time)?:
            let due = lower.context.now + max(0, time.nanoseconds)
            self[ref]?.client.deferred.postpone(operation, until: due)
            lower.context.queue.schedule(.performPostponed(ref), at: due)
        case .pause?: self[ref]?.client.deferred.postpone(operation, until: nil)
        case .disconnect?: return .demanding(.disconnection)
        }
        return .held
    }

    // MARK: Postponed operations

    /// Removes the first held-up write command that is due.
    mutating func takePostponedCommand(_ ref: Ref<Link>, _ links: LinkLayer, at now: Nanoseconds) -> ATTTransaction? {
        guard let link = links[ref], let operation = self[ref]?.client.deferred.takeCommand(at: now) else { return nil }
        return ATTTransaction(operation, on: ref, link)
    }

    /// Enqueues the due operations that hold up nothing, and removes the ATT request, if it is due.
    mutating func takePostponedRequest(_ ref: Ref<Link>, _ lower: inout LowerLayers) -> ATTTransaction? {
        while let operation = self[ref]?.client.deferred.takeOther(at: lower.context.now) {
            enqueue(operation, on: ref, &lower)
        }
        guard let link = lower.links[ref], let operation = self[ref]?.client.deferred.takeRequest(at: lower.context.now)
        else { return nil }
        stopTimeout(ref, &lower.context)
        return ATTTransaction(operation, on: ref, link)
    }
}

extension Device {
    /// Whether faults or recorded delays may hold up operations; most devices have none.
    fileprivate var mayHoldUpOperations: Bool { !faults.steps.isEmpty || handler.hasResponseTimes }

    fileprivate mutating func recordedResponseTime(
        _ step: DeviceFault.Step, _ attribute: AttributeID, _ written: WritePart?
    ) -> Duration? { handler.hasResponseTimes ? handler.behavior?.responseTime(step, attribute, written) : nil }
}
