import BluetoothBackend
import BluetoothSupport

// The controls that concern a device alone.
extension Device {
    /// Applies what a control changes at the device itself.
    ///
    /// - Returns: Whether the change concerns others as well, and the device's links; nil if only the managers of the
    ///   device's host may change this.
    mutating func apply(
        _ control: DeviceControl, _ ref: Ref<Device>, _ context: inout WorldContext
    ) -> (isChanged: Bool, links: [Ref<Link>])? {
        guard !control.changesDescription || host == nil else {
            context.log("control ignored: the device is what its host's managers publish")
            return nil
        }
        return (change(control, ref, &context), links)
    }

    private mutating func change(_ control: DeviceControl, _ ref: Ref<Device>, _ context: inout WorldContext) -> Bool {
        switch control {
        case .setValue(let target, let value): _ = store(value, in: target, ref, &context)
        case .hold(let path, let isHeld):
            if let id = existing(.path(path), ref, &context) { server.database[id]?.access.isHeld = isHeld }
        case .startTimer(let number, let delay, let period):
            handler.startTimer(number, after: delay, every: period, of: ref, in: &context.queue)
        case .stopTimer(let number): handler.stopTimer(number, in: &context.queue)
        case .failConnections(let count): faults.failingConnections = count
        case .inject(let fault):
            if let rule = fault.effect.name.brokenRule(at: fault.step) {
                context.log("fault ignored: \(rule)")
            } else {
                faults.steps.append(fault)
            }
        case .removeFault(let fault): faults.remove(fault)
        case .setPairing(let pairing): description.pairing = pairing
        case .setRSSI(let rssi):
            signal.rssi = rssi
            reportChange(ref, &context)
        case .clearFaults: faults.steps = []
        case .setParameters(let parameters): description.peripheralLatency = parameters.peripheralLatency
        case .setPacketLoss(let rate): signal.packetLossRate = rate
        case .enableAdvertising(let index, let isOn): advertiser.enable(index, isOn, at: context.now)
        case .setAdvertising(let index, let description, let firstPacket):
            return advertiser.setDescription(
                description, of: index, firstPacket: firstPacket?.nanoseconds, at: context.now)
        case .setProximity(let proximity): return signal.move(to: proximity)
        case .rename(let name, let isAnnounced):
            description.name = name
            server.deviceNameValue = Data(name.utf8)
            return isAnnounced
        default: break
        }
        return true
    }

    /// Returns the attribute that a control names; if it does not exist, adds a line to the trace.
    private func existing(
        _ target: AttributeTarget, _ ref: Ref<Device>, _ context: inout WorldContext
    ) -> AttributeID? {
        let id = server.attribute(target)
        if id == nil { context.log("control ignored: device \(ref.serial) has no characteristic \(target)") }
        return id
    }

    /// Stores the value of the characteristic or descriptor that a control names.
    mutating func store(
        _ value: Data, in target: AttributeTarget, _ ref: Ref<Device>, _ context: inout WorldContext
    ) -> AttributeID? {
        guard let id = existing(target, ref, &context) else { return nil }
        server.database[id]?.value = value
        return id
    }

    /// Sets a parameter of the handler, within its range.
    ///
    /// - Returns: The value; nil if the handler does not have the parameter.
    mutating func setParameter(
        _ parameter: DeviceParameter, _ value: Double, _ context: inout WorldContext
    ) -> Double? {
        guard handler.isPresent else {
            context.log("parameter \(parameter.rawValue) ignored: the device has no handler")
            return nil
        }
        var value = value
        if let known = handler.builtIn?.parameters {
            guard let range = known[parameter], !value.isNaN else {
                context.log("parameter \(parameter.rawValue) ignored: the device does not have it")
                return nil
            }
            value = min(range.upperBound, max(range.lowerBound, value))
        }
        description.parameters[parameter] = value
        return value
    }

    /// Handles the handler's answer about a host's connect.
    ///
    /// - Returns: The identifier under which the host knows the device; nil if no answer was awaited.
    mutating func connectAnswered(_ host: Int, _ epoch: UInt32) -> PeerID? {
        handler.answered(host, epoch) ? identity.peers[host] : nil
    }

    /// Switches the host behind the device on or off; returns whether that is a change.
    mutating func turn(_ isOn: Bool, _ ref: Ref<Device>, _ context: inout WorldContext) -> Bool {
        guard signal.turn(isOn) else { return false }
        reportChange(ref, &context)
        return true
    }

    /// Switches all sets off.
    mutating func leaveAir(_ ref: Ref<Device>, _ context: inout WorldContext) {
        advertiser.enable(nil, false, at: context.now)
        reportChange(ref, &context)
    }

    /// Changes the GAP Device Name of a host that was created for a peripheral manager, unless a test has renamed it.
    mutating func setDeviceName(_ name: String, of host: HostIdentity) {
        guard host.isAnonymous, description.name == host.name else { return }
        server.deviceNameValue = Data(name.utf8)
    }
}
