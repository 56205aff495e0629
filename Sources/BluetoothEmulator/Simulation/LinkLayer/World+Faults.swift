import BluetoothBackend

// Steps that a test makes go wrong: which fault a step meets, and how paused steps go on.
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

    /// Takes the first fault that a step meets, if there is one; those before it that skip the step count it.
    mutating func takeFault(
        _ step: DeviceFault.Step, _ attribute: AttributeID? = nil, of ref: Ref<Device>
    ) -> DeviceFault.Effect? {
        guard devices[ref]?.faults.isEmpty == false, let device = devices[ref] else { return nil }
        for (index, fault) in device.faults.enumerated() where fault.step == step {
            if let path = fault.characteristic, device.database.characteristic(path) != attribute { continue }
            guard fault.skip == 0 else {
                devices[ref]?.faults[index].skip -= 1
                continue
            }
            switch fault.count {
            case nil: break
            case let count? where count > 1: devices[ref]?.faults[index].count = count - 1
            case _?: devices[ref]?.faults.remove(at: index)
            }
            return fault.effect
        }
        return nil
    }

    // MARK: Connecting and pairing

    /// Whether a connect meets a fault, and is not done now.
    mutating func meetsFault(connecting ref: Ref<Device>, to host: Int) -> Bool {
        guard let peer = devices[ref]?.identities[host], let effect = takeFault(.connect, of: ref) else { return false }
        let epoch = hosts[host].epoch
        switch effect {
        case .fail, .disconnect: failConnect(peer, on: host, .connectionFailed)
        case .delay(let time):
            queue.schedule(
                .established(host, ref, epoch: epoch, isAdmitted: true), at: now + max(0, time.nanoseconds))
        case .pause: devices[ref]?.pausedConnects.append(Device.PausedConnect(host: host, epoch: epoch))
        }
        return true
    }

    /// Whether a pairing meets a fault, and does not go on now.
    mutating func meetsFault(pairing number: UInt64, on ref: Ref<Link>) -> Bool {
        guard links[ref]?.pairing?.isAdmitted == false, let device = links[ref]?.device else { return false }
        links[ref]?.pairing?.isAdmitted = true
        guard let effect = takeFault(.pair, of: device) else { return false }
        switch effect {
        case .fail:
            pairingFailed(
                ref, BackendError(.operationNotSupported, operation: "pair", message: "the peer refuses to pair"))
        case .delay(let time): queue.schedule(.pairingFeatures(ref, number), at: now + max(0, time.nanoseconds))
        case .pause: links[ref]?.pairing?.isPaused = true
        case .disconnect: terminate(ref, reason: .remote)
        }
        return true
    }

    // MARK: Going on

    /// Lets all that is paused at a device go on.
    private mutating func resume(_ ref: Ref<Device>) {
        guard let device = devices[ref] else { return }
        devices[ref]?.pausedConnects = []
        for connect in device.pausedConnects {
            queue.schedule(.established(connect.host, ref, epoch: connect.epoch, isAdmitted: true), at: now)
        }
        let present = now
        for link in device.links {
            if links[link]?.pairing?.isPaused == true, let number = links[link]?.pairing?.number {
                links[link]?.pairing?.isPaused = false
                queue.schedule(.pairingFeatures(link, number), at: present)
            }
            links[link]?.resume(at: present)
            performPostponed(link)
            unstall(link)
        }
    }

    /// Goes on with what was held up on a link and is due.
    mutating func performPostponed(_ ref: Ref<Link>) {
        guard !isMissed(.performPostponed(ref), on: ref) else { return }
        let present = now
        while let command = links[ref]?.takeLate(at: present) { receiveCommand(command, on: ref) }
        for operation in links[ref]?.takeAside(at: present) ?? [] { enqueue(operation, on: ref) }
        guard let answered = links[ref]?.takePostponed(at: present) else { return }
        stopTransactionTimeout(ref)
        perform(answered, on: ref)
    }
}
