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

    /// Applies the fault or the recorded delay of an operation; a fault of the answer stays with an admitted operation.
    mutating func admit(_ answered: inout ATTTransaction, _ lower: inout LowerLayers) -> Admission {
        guard lower.air.devices[answered.link.device]?.mayHoldUpOperations == true,
            let start = self[answered.ref]?.client.startedAt, let (step, attribute) = step(of: answered, &lower),
            let effect = lower.air.devices[answered.link.device]?.holdUp(
                answered, step, attribute, startedAt: start, &lower.context)
        else { return .admitted }
        switch effect {
        case .fail(let code): return Admission(refuse(answered, step, code, &lower))
        case .delay(let time): postpone(answered, until: lower.context.now + max(0, time.nanoseconds), &lower)
        case .pause: postpone(answered, until: nil, &lower)
        case .disconnect: return .demanding(.disconnection)
        case .loseAnswer, .delayAnswer, .corrupt:
            (answered.operation.answerFault, answered.operation.isAdmitted) = (effect, true)
            return .admitted
        }
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
                lower.context.report(.channelRefused(link: answered.ref.serial, psm: psm, .noResources))
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
        case .writeCommand, .deviceName, .exchange: return nil
        }
    }

    /// Returns the procedure of an operation; nil for an operation that the handler is not asked about.
    func procedure(of answered: ATTTransaction, _ lower: inout LowerLayers) -> PeripheralProcedure? {
        let kind = answered.operation.kind
        if kind.isDiscovery, self[answered.ref]?.client.cache != nil { return nil }
        switch kind {
        case .request(.discoverServices(let types)):
            let central = answered.link.centralIdentity(lower.hosts)
            return PeripheralProcedure(central: central, kind: .discoverServices, types: types)
        case .request(.discoverIncludedServices(let service, let types)):
            return procedure(.discoverIncludedServices, of: service, types, answered, &lower)
        case .request(.discoverCharacteristics(let service, let types)):
            return procedure(.discoverCharacteristics, of: service, types, answered, &lower)
        case .request(.discoverDescriptors(let characteristic)):
            return procedure(.discoverDescriptors, of: characteristic, nil, answered, &lower)
        case .request(.setNotifying(let attribute, let isOn)):
            // The host writes the configuration only for its first and its last subscriber.
            let link = answered.link
            let others = lower.hosts[link.host].ledger.subscribers(of: attribute, at: link.peer).count
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
        guard let device = lower.air.devices[answered.link.device], let found = device.server.database[attribute]
        else { return nil }
        return PeripheralProcedure(
            central: answered.link.centralIdentity(lower.hosts), kind: kind, types: types, attribute: attribute,
            uuid: found.uuid, position: device.server.position(of: attribute))
    }

    // MARK: Write commands

    /// Applies the fault of a write command; one behind held-up commands waits for its turn.
    mutating func admit(command: inout ATTTransaction, _ lower: inout LowerLayers) -> Admission {
        guard case .writeCommand(let attribute, _) = command.operation.kind else { return .admitted }
        let (operation, ref) = (command.operation, command.ref)
        let device = command.link.device
        let effect = lower.air.devices[device]?.takeFault(.writeCommand, attribute, at: device, &lower.context)
        switch effect {
        case nil, .loseAnswer?, .delayAnswer?, .corrupt?:
            command.operation.answerFault = effect
            guard self[ref]?.client.deferred.hasCommands == true else { return .admitted }
            self[ref]?.client.deferred.postpone(command.operation, until: lower.context.now)
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

    // MARK: Answers

    /// Delivers a response later by a duration; a request that waits for more than 30 s ends the link.
    mutating func delay(
        _ response: LinkResponse, of operation: LinkOperation, by time: Duration, on ref: Ref<Link>,
        _ lower: inout LowerLayers
    ) {
        var operation = operation
        operation.answerFault = nil
        self[ref]?.client.finishing = (operation, response)
        startTimeout(ref, &lower.context)
        lower.context.queue.schedule(.finish(ref), at: lower.context.now + max(0, time.nanoseconds))
    }

    /// Returns a response with a malformed value; other responses stay as they are.
    func corrupted(_ response: LinkResponse, _ context: inout WorldContext) -> LinkResponse {
        guard case .value(let value) = response else { return response }
        return .value(value.malformed(by: context.random.faults.next(), upTo: ATTLimits.longestValue))
    }

    // MARK: Postponed operations

    /// Removes the first held-up write command that is due, unless the link has fallen silent.
    mutating func takePostponedCommand(_ ref: Ref<Link>, _ links: LinkLayer, at now: Nanoseconds) -> ATTTransaction? {
        guard let link = links[ref], !link.supervision.isSilent,
            let operation = self[ref]?.client.deferred.takeCommand(at: now)
        else { return nil }
        return ATTTransaction(operation, on: ref, link)
    }

    /// Enqueues the due operations that hold up nothing, and removes the ATT request, if it is due and the link has not
    /// fallen silent.
    mutating func takePostponedRequest(_ ref: Ref<Link>, _ lower: inout LowerLayers) -> ATTTransaction? {
        while let operation = self[ref]?.client.deferred.takeOther(at: lower.context.now) {
            enqueue(operation, on: ref, &lower)
        }
        guard let link = lower.links[ref], !link.supervision.isSilent,
            let operation = self[ref]?.client.deferred.takeRequest(at: lower.context.now)
        else { return nil }
        stopTimeout(ref, &lower.context)
        return ATTTransaction(operation, on: ref, link)
    }
}

extension Device {
    /// Whether faults or recorded delays may hold up operations; most devices have none.
    fileprivate var mayHoldUpOperations: Bool { !faults.steps.isEmpty || handler.hasResponseTimes }

    /// Returns the effect of an operation's fault, or of the delay that a replayed device recorded; nil if nothing holds
    /// the operation up.
    fileprivate mutating func holdUp(
        _ answered: ATTTransaction, _ step: DeviceFault.Step, _ attribute: AttributeID?, startedAt start: Nanoseconds,
        _ context: inout WorldContext
    ) -> DeviceFault.Effect? {
        if !answered.operation.isAdmitted,
            let effect = takeFault(step, attribute, at: answered.link.device, &context)
        {
            return effect
        }
        guard handler.hasResponseTimes, let attribute,
            let time = handler.behavior?.responseTime(step, attribute, answered.operation.kind.written),
            start + time.nanoseconds > context.now
        else { return nil }
        // The link may have allowed an earlier answer.
        return .delay(.nanoseconds(start + time.nanoseconds - context.now))
    }
}
