import BluetoothBackend
import BluetoothValues

// The faults that a test injects, and the resumption of paused steps.
extension World {
    // MARK: Connecting

    /// Returns whether a connect meets a fault and does not happen now.
    mutating func meetsFault(connecting ref: Ref<Device>, to host: Int) -> Bool {
        guard let peer = air.devices[ref]?.identity.peers[host],
            let effect = air.devices[ref]?.takeFault(.connect, at: ref, &context)
        else {
            return false
        }
        let epoch = hosts[host].adapter.epoch
        switch effect {
        case .fail, .disconnect: failConnect(peer, on: host, .connectionFailed)
        case .delay(let time):
            context.queue.schedule(
                .established(host, ref, epoch: epoch, .pastFault), at: context.now + max(0, time.nanoseconds))
        case .pause: air.devices[ref]?.faults.pausedConnects.append((host, epoch))
        }
        return true
    }

    // MARK: Resuming

    mutating func resume(_ ref: Ref<Device>) {
        guard let device = air.devices[ref] else { return }
        air.devices[ref]?.faults.pausedConnects = []
        for connect in device.faults.pausedConnects {
            context.queue.schedule(.established(connect.host, ref, epoch: connect.epoch, .pastFault), at: context.now)
        }
        for link in device.links {
            security.resume(link, &context)
            links[link]?.client.deferred.resume(at: context.now)
            links[link]?.server.resume()
            performPostponed(link)
            unstall(link)
        }
    }

    /// Performs the due operations of a link that a fault held up.
    mutating func performPostponed(_ ref: Ref<Link>) {
        guard !links.isMissed(.performPostponed(ref), on: ref) else { return }
        while let operation = links[ref]?.client.deferred.takeCommand(at: context.now),
            let command = links[ref]?.answered(operation)
        {
            receiveCommand(command, on: ref)
        }
        while let operation = links[ref]?.client.deferred.takeOther(at: context.now) { enqueue(operation, on: ref) }
        guard let operation = links[ref]?.client.deferred.takeRequest(at: context.now),
            let answered = links[ref]?.answered(operation)
        else { return }
        stopTransactionTimeout(ref)
        perform(answered, on: ref)
    }

    // MARK: Operations

    /// Returns whether an operation meets a fault and is not performed now.
    mutating func meetsFault(_ answered: Link.CompletedRequest, on ref: Ref<Link>) -> Bool {
        let operation = answered.operation
        guard !operation.isAdmitted, let (step, attribute) = step(of: answered, on: ref),
            let effect = air.devices[answered.device]?.takeFault(step, attribute, at: answered.device, &context)
        else { return false }
        switch effect {
        case .fail(let code): refuse(operation, step, code, on: ref)
        case .delay(let time): postpone(operation, until: context.now + max(0, time.nanoseconds), on: ref)
        case .pause: postpone(operation, until: nil, on: ref)
        case .disconnect: terminate(ref, reason: .remote)
        }
        return true
    }

    /// Returns whether a device answers later than the link would allow, according to its recording.
    mutating func mustWait(_ answered: Link.CompletedRequest, on ref: Ref<Link>) -> Bool {
        let operation = answered.operation
        guard let (step, attribute) = step(of: answered, on: ref), let attribute,
            let time = air.devices[answered.device]?.handler.behavior?.responseTime(
                step, attribute, operation.kind.written),
            let due = links[ref].map({ $0.client.startedAt + time.nanoseconds }), due > context.now
        else { return false }
        postpone(operation, until: due, on: ref)
        return true
    }

    private mutating func refuse(
        _ operation: LinkOperation, _ step: DeviceFault.Step, _ code: ATTCode, on ref: Ref<Link>
    ) {
        let error: BackendError
        switch step {
        case .readRSSI: error = BackendError(.unknown, operation: "read RSSI")
        case .openChannel:
            if case .request(.openChannel(let psm)) = operation.kind {
                channels.refuse(psm, .noResources, on: ref, &context)
            }
            error = BackendError(.outOfSpace, operation: "open channel", message: "the peer has no room")
        default: return fail(operation, code, on: ref, step.rawValue)
        }
        complete(operation, .failure(error), on: ref)
    }

    /// Holds up an operation; an ATT request also holds up the queue, because only one is outstanding.
    private mutating func postpone(_ operation: LinkOperation, until due: Nanoseconds?, on ref: Ref<Link>) {
        links[ref]?.client.deferred.postpone(operation, until: due)
        if operation.kind.isATTRequest { startTransactionTimeout(ref) } else { release(ref) }
        if let due { context.queue.schedule(.performPostponed(ref), at: due) }
    }

    /// Returns the device step of an operation, and its attribute; nil for an operation that needs no packet.
    private func step(of answered: Link.CompletedRequest, on ref: Ref<Link>) -> (DeviceFault.Step, AttributeID?)? {
        switch answered.operation.kind {
        case .request(.read(let attribute)): return (.read, attribute)
        case .request(.write(let attribute, _, _)): return (.write, attribute)
        case .request(.readRSSI): return (.readRSSI, nil)
        case .request(.openChannel): return (.openChannel, nil)
        case _ where procedure(of: answered, on: ref) == nil: return nil
        case .request(.setNotifying(let attribute, let isOn)): return (isOn ? .subscribe : .unsubscribe, attribute)
        case .request(.discoverDescriptors(let attribute)): return (.discoverDescriptors, attribute)
        case .request(.discoverServices): return (.discoverServices, nil)
        case .request(.discoverIncludedServices): return (.discoverIncludedServices, nil)
        case .request(.discoverCharacteristics): return (.discoverCharacteristics, nil)
        case .writeCommand, .deviceName: return nil
        }
    }

    // MARK: Write commands

    /// Handles a write command to a device with faults or with earlier commands to perform.
    ///
    /// - Returns: Whether the command is not performed now.
    mutating func meetsFault(command: Link.CompletedRequest, on ref: Ref<Link>) -> Bool {
        guard case .writeCommand(let attribute, _) = command.operation.kind else { return false }
        let (operation, isFirst) = (command.operation, links[ref]?.client.deferred.hasCommands != true)
        switch air.devices[command.device]?.takeFault(.writeCommand, attribute, at: command.device, &context) {
        case nil where isFirst: return false
        case nil: links[ref]?.client.deferred.postpone(operation, until: context.now)
        case .fail?: context.log("write command lost by a fault")
        case .delay(let time)?:
            let due = context.now + max(0, time.nanoseconds)
            links[ref]?.client.deferred.postpone(operation, until: due)
            context.queue.schedule(.performPostponed(ref), at: due)
        case .pause?: links[ref]?.client.deferred.postpone(operation, until: nil)
        case .disconnect?: terminate(ref, reason: .remote)
        }
        return true
    }

    // MARK: Values

    /// Returns a value of the device after applying its fault; nil if the value is lost.
    mutating func meetFault(_ item: LinkServer.Outgoing, on ref: Ref<Link>) -> LinkServer.Outgoing? {
        guard case .value(let attribute, _, _, let sender) = item, let device = links[ref]?.device,
            let effect = air.devices[device]?.takeFault(.notify, attribute, at: device, &context)
        else { return item }
        switch effect {
        case .fail:
            context.log("value lost by a fault")
            if let sender { returnNotifyCredits(to: [sender], on: ref) }
            return nil
        case .delay(let time): return .held(item, until: context.now + max(0, time.nanoseconds))
        case .pause: return .held(item, until: nil)
        case .disconnect:
            terminate(ref, reason: .remote)
            return nil
        }
    }

    /// Resumes the device's queue if nothing holds up its head.
    mutating func unstall(_ ref: Ref<Link>) {
        guard links[ref]?.server.unstall() == true else { return }
        context.queue.schedule(
            .peerTransmit(ref), at: links.connectionEvent(of: ref, from: context.now))
    }
}
