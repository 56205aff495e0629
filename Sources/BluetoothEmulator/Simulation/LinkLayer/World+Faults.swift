import BluetoothBackend

// The faults that a test injects: which one a step meets, and how paused steps resume.
extension World {
    mutating func applyFault(_ control: DeviceControl, to ref: Ref<Device>) {
        switch control {
        case .inject(let fault): devices[ref]?.faults.steps.append(fault)
        case .clearFaults:
            devices[ref]?.faults.steps = []
            resume(ref)
        case .resume: resume(ref)
        default: break
        }
    }

    /// Takes the first fault that a step meets, if there is one.
    mutating func takeFault(
        _ step: DeviceFault.Step, _ attribute: AttributeID? = nil, of ref: Ref<Device>
    ) -> DeviceFault.Effect? {
        guard devices[ref]?.faults.steps.isEmpty == false, let database = devices[ref]?.server.database else {
            return nil
        }
        return devices[ref]?.faults.take(step, attribute, in: database)
    }

    // MARK: Connecting and pairing

    /// Whether a connect meets a fault, and does not happen now.
    mutating func meetsFault(connecting ref: Ref<Device>, to host: Int) -> Bool {
        guard let peer = devices[ref]?.identity.peers[host], let effect = takeFault(.connect, of: ref) else {
            return false
        }
        let epoch = hosts[host].adapter.epoch
        switch effect {
        case .fail, .disconnect: failConnect(peer, on: host, .connectionFailed)
        case .delay(let time):
            queue.schedule(
                .established(host, ref, epoch: epoch, isAdmitted: true), at: now + max(0, time.nanoseconds))
        case .pause: devices[ref]?.faults.pausedConnects.append(DeviceFaults.PausedConnect(host: host, epoch: epoch))
        }
        return true
    }

    /// Whether a pairing meets a fault, and does not continue now.
    mutating func meetsFault(pairing number: UInt64, on ref: Ref<Link>) -> Bool {
        guard links[ref]?.security.pairing?.isAdmitted == false, let device = links[ref]?.device else { return false }
        links[ref]?.security.pairing?.isAdmitted = true
        guard let effect = takeFault(.pair, of: device) else { return false }
        switch effect {
        case .fail:
            pairingFailed(
                ref, BackendError(.operationNotSupported, operation: "pair", message: "the peer refuses to pair"))
        case .delay(let time): queue.schedule(.pairingFeatures(ref, number), at: now + max(0, time.nanoseconds))
        case .pause: links[ref]?.security.pairing?.isPaused = true
        case .disconnect: terminate(ref, reason: .remote)
        }
        return true
    }

    // MARK: Resuming

    /// Resumes all that is paused at a device.
    private mutating func resume(_ ref: Ref<Device>) {
        guard let device = devices[ref] else { return }
        devices[ref]?.faults.pausedConnects = []
        for connect in device.faults.pausedConnects {
            queue.schedule(.established(connect.host, ref, epoch: connect.epoch, isAdmitted: true), at: now)
        }
        let present = now
        for link in device.links {
            if links[link]?.security.pairing?.isPaused == true, let number = links[link]?.security.pairing?.number {
                links[link]?.security.pairing?.isPaused = false
                queue.schedule(.pairingFeatures(link, number), at: present)
            }
            links[link]?.client.deferred.resume(at: present)
            links[link]?.server.resume()
            performPostponed(link)
            unstall(link)
        }
    }

    /// Performs the operations of a link that a fault held up and that are due.
    mutating func performPostponed(_ ref: Ref<Link>) {
        guard !isMissed(.performPostponed(ref), on: ref) else { return }
        let present = now
        while let operation = links[ref]?.client.deferred.takeCommand(at: present),
            let command = links[ref]?.answered(operation)
        {
            receiveCommand(command, on: ref)
        }
        for operation in links[ref]?.client.deferred.takeOthers(at: present) ?? [] { enqueue(operation, on: ref) }
        guard let operation = links[ref]?.client.deferred.takeRequest(at: present),
            let answered = links[ref]?.answered(operation)
        else { return }
        stopTransactionTimeout(ref)
        perform(answered, on: ref)
    }
}
