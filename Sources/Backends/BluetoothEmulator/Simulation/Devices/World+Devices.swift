import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The devices: their addition, and the controls of tests, tools and handlers.
extension World {
    /// Adds a device, which begins to advertise.
    ///
    /// - Throws: ``DescriptionError`` if the address is taken.
    mutating func addDevice(_ peripheral: EmulatedPeripheral) throws -> Ref<Device> {
        let address = peripheral.description.effectiveAddress
        try lower.air.requireFree(address)
        let peers = lower.hosts.map { $0.identity.peerID(of: address) }
        let ref = lower.air.insert(try Device(peripheral, peers: peers, seed: lower.context.random.seed))
        let parameters = peripheral.description.parameters.sorted { $0.key.rawValue < $1.key.rawValue }
        for (parameter, value) in parameters { setParameter(parameter, value, of: ref) }
        lower.air.devices[ref]?.reportAddition(ref, &lower.context)
        submit(.deviceAdded(ref))
        return ref
    }

    mutating func apply(_ control: DeviceControl, to ref: Ref<Device>) {
        guard let (isChanged, links) = lower.air.devices[ref]?.apply(control, ref, &lower.context) else { return }
        switch control {
        case .setValue, .hold, .startTimer, .stopTimer, .failConnections, .inject, .removeFault, .setPairing, .setRSSI:
            break
        case .notify, .notifyAtOnce, .addService, .removeService, .removeServiceNumber, .replaceServices:
            changeServer(control, of: ref)
        case .setParameter(let parameter, let value): setParameter(parameter, value, of: ref)
        case .note(let text): lower.context.log(text)
        case .send(let channel, let data): channels.handle(.send(data), on: channel, of: .device(ref), &lower)
        case .closeChannel(let channel): channels.handle(.close, on: channel, of: .device(ref), &lower)
        case .remove: remove(ref)
        case .disconnect, .lose, .setParameters, .exchangeMTU, .clearFaults, .resume, .loseBonds, .enterPasskey:
            changeLinks(links, control, of: ref)
        case .setAdvertising, .enableAdvertising, .setProximity, .rename, .changeAddress, .rotateAddress,
            .setPacketLoss:
            if isChanged { changeAir(control, of: ref) }
            if !control.changesAddress { lower.air.reportChange(of: ref, &lower.context) }
        }
    }

    // MARK: Values and services

    private mutating func changeServer(_ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .notify(let target, let value):
            guard let id = lower.air.devices[ref]?.store(value, in: target, ref, &lower.context) else { return }
            if lower.context.isNoting, gatt.subscriberCount(id, on: lower.air.links(of: ref)) == 0 {
                lower.context.log("new value of \(target) not sent: no central subscribes to it")
            }
            notify(value, id, of: ref)
        case .notifyAtOnce(let path, let value): gatt.notifyAtOnce(value, path, of: ref, &lower)
        case .addService(let service): gatt.add(service, to: ref, &lower)
        case .replaceServices(let services, let isIndicated):
            gatt.replaceServices(of: ref, with: services, isIndicated: isIndicated, &lower)
        case .removeService, .removeServiceNumber:
            guard let device = lower.air.devices[ref], let id = device.server.service(of: control) else {
                return lower.context.log("control ignored: device \(ref.serial) has no such service")
            }
            gatt.remove([id], of: ref, &lower)
        default: break
        }
    }

    func subscriberCount(_ target: AttributeTarget, of ref: Ref<Device>) -> Int {
        guard let device = lower.air.devices[ref], let id = device.server.attribute(target) else { return 0 }
        return gatt.subscriberCount(id, on: device.links)
    }

    // MARK: Links

    private mutating func changeLinks(_ open: [Ref<Link>], _ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .disconnect(let error):
            for link in open { lower.links.close(link, .remote, with: error, &lower.context) }
        case .lose(let staysOnAir): lose(ref, staysOnAir: staysOnAir)
        case .setParameters(let parameters):
            for link in open { lower.links.update(parameters, link, &lower.context) }
        case .exchangeMTU(let mtu): for link in open { exchangeMTU(mtu, on: link) }
        case .clearFaults, .resume: resume(ref)
        case .enterPasskey(let passkey): security.enter(passkey: passkey, on: open, &lower)
        case .loseBonds(let host):
            if let device = lower.air.devices[ref] { security.loseBonds(ref, device, with: host, &lower.context) }
        default: break
        }
    }

    private mutating func exchangeMTU(_ mtu: Int, on ref: Ref<Link>) {
        guard let link = lower.links[ref] else { return }
        let agreed = max(ATTLimits.minimumMTU, min(mtu, maximumMTU(of: link.host)))
        for (link, _) in lower.links.directions(of: ref) { gatt.setMTU(agreed, on: link, &lower) }
    }

    /// Loses the device's links without disconnecting; hosts notice after the supervision timeout.
    ///
    /// - Parameter reason: The reason for the device's side.
    mutating func lose(_ ref: Ref<Device>, staysOnAir: Bool, reason: DisconnectReason = .timeout) {
        for link in lower.air.links(of: ref) {
            lower.links.fallSilent(link, isLost: true, &lower.context)
            leaveServer(link, reason: reason)
        }
        if !staysOnAir { lower.air.devices[ref]?.leaveAir(ref, &lower.context) }
        lower.air.wake(ref, lower.hosts, &lower.context)
    }

    private mutating func remove(_ ref: Ref<Device>) {
        lose(ref, staysOnAir: false)
        guard var device = lower.air.remove(ref) else { return }
        device.handler.stopTimers(in: &lower.context.queue)
        security.forget(ref)
        lower.context.report(.deviceRemoved(device: ref.serial))
    }

    // MARK: The air

    private mutating func changeAir(_ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .setAdvertising, .enableAdvertising: lower.air.startAdvertising(ref, lower.hosts, &lower.context)
        case .setProximity: rangeChanged(ref)
        case .rename: for link in lower.air.links(of: ref) { readDeviceName(on: link) }
        case .changeAddress(let address):
            // An unbonded device becomes a new peer, and its links end because the old address falls silent.
            lose(ref, staysOnAir: true)
            lower.air.changeAddress(of: ref, to: address, asIdentity: true, security, &lower.hosts, &lower.context)
        case .rotateAddress: lower.air.rotateAddress(of: ref, security, &lower.hosts, &lower.context)
        case .setPacketLoss(let rate): lower.air.allowLosses(at: rate)
        default: break
        }
    }
}
