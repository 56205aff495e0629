import BluetoothBackend

// Steps that a test makes go wrong.
extension World {
    mutating func applyFault(_ control: DeviceControl, to ref: Ref<Device>) {
        switch control {
        case .inject(let fault): devices[ref]?.faults.append(fault)
        case .clearFaults:
            devices[ref]?.faults = []
            resume(ref)
        case .resume: resume(ref)
        default: break
        }
    }

    /// Takes the first fault that an operation meets, if there is one.
    ///
    /// - Returns: Whether the operation is not to be done now.
    mutating func meetsFault(_ answered: Link.Answered, on ref: Ref<Link>) -> Bool {
        guard let fault = takeFault(answered, on: ref) else { return false }
        switch fault.effect {
        case .fail(let code): fail(answered.operation, code, on: ref, fault.step.rawValue)
        case .delay(let delay):
            let due = now + max(0, delay.nanoseconds)
            links[ref]?.postponed = Link.Postponed(operation: answered.operation, due: due)
            startTransactionTimeout(ref)
            queue.schedule(.performPostponed(ref), at: due)
        case .pause:
            links[ref]?.postponed = Link.Postponed(operation: answered.operation, due: nil)
            startTransactionTimeout(ref)
        }
        return true
    }

    private mutating func takeFault(_ answered: Link.Answered, on ref: Ref<Link>) -> DeviceFault? {
        guard let (step, attribute) = step(of: answered, on: ref), let device = devices[answered.device] else {
            return nil
        }
        let index = device.faults.firstIndex { fault in
            fault.step == step
                && fault.characteristic.map { device.database.characteristic($0) == attribute } ?? true
        }
        guard let index else { return nil }
        let fault = device.faults[index]
        if let count = fault.count {
            if count > 1 {
                devices[answered.device]?.faults[index].count = count - 1
            } else {
                devices[answered.device]?.faults.remove(at: index)
            }
        }
        return fault
    }

    /// What an operation is to the device, and the attribute that it is about; nil for what is not done over the air.
    private func step(of answered: Link.Answered, on ref: Ref<Link>) -> (DeviceFault.Step, AttributeID?)? {
        switch answered.operation.kind {
        case .read(let attribute): return (.read, attribute)
        case .write(let attribute, _): return (.write, attribute)
        default: break
        }
        guard let procedure = procedure(of: answered, on: ref) else { return nil }
        switch (procedure, answered.operation.kind) {
        case (.subscribe, .setNotifying(let attribute, _)): return (.subscribe, attribute)
        case (.unsubscribe, .setNotifying(let attribute, _)): return (.unsubscribe, attribute)
        case (.discoverDescriptors, .descriptors(let attribute)): return (.discoverDescriptors, attribute)
        case (.discoverServices, _): return (.discoverServices, nil)
        case (.discoverIncludedServices, _): return (.discoverIncludedServices, nil)
        case (.discoverCharacteristics, _): return (.discoverCharacteristics, nil)
        default: return nil
        }
    }

    /// A delayed operation is due.
    mutating func performPostponed(_ ref: Ref<Link>) {
        guard let due = links[ref]?.postponed?.due, due <= now, !isMissed(.performPostponed(ref), on: ref) else {
            return
        }
        goOn(ref)
    }

    private mutating func resume(_ ref: Ref<Device>) {
        for link in devices[ref]?.links ?? [] {
            guard let postponed = links[link]?.postponed, postponed.due == nil else { continue }
            let present = now
            links[link]?.postponed?.due = present
            performPostponed(link)
        }
    }

    private mutating func goOn(_ ref: Ref<Link>) {
        guard let postponed = links[ref]?.postponed, let answered = links[ref]?.answered(postponed.operation) else {
            return
        }
        links[ref]?.postponed = nil
        stopTransactionTimeout(ref)
        perform(answered, on: ref)
    }
}
