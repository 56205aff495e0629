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
        try radio.air.requireFree(address)
        let peers = radio.hosts.map { $0.identity.peerID(of: address) }
        let ref = radio.air.insert(try Device(peripheral, peers: peers, seed: radio.context.random.seed))
        let parameters = peripheral.description.parameters.sorted { $0.key.rawValue < $1.key.rawValue }
        for (parameter, value) in parameters { setParameter(parameter, value, of: ref) }
        radio.air.devices[ref]?.reportAddition(ref, &radio.context)
        submit(.deviceAdded(ref))
        return ref
    }

    mutating func apply(_ control: DeviceControl, to ref: Ref<Device>) {
        guard let device = radio.air.devices[ref]?.overview else { return }
        if control.changesDescription, device.host != nil {
            return radio.context.log("control ignored: the device is what its host's managers publish")
        }
        switch control {
        case .notify, .notifyAtOnce, .setValue, .hold, .addService, .removeService, .removeServiceNumber:
            changeServer(control, of: ref)
        case .setParameter(let parameter, let value): setParameter(parameter, value, of: ref)
        case .note(let text): radio.context.log(text)
        case .startTimer(let number, let delay, let period):
            radio.air.devices[ref]?.handler.startTimer(
                number, after: delay, every: period, of: ref, in: &radio.context.queue)
        case .stopTimer(let number): radio.air.devices[ref]?.handler.stopTimer(number, in: &radio.context.queue)
        case .send(let channel, let data): channels.send(data, on: channel, of: ref, &radio)
        case .closeChannel(let channel): channels.close(channel, of: ref, &radio)
        case .remove: remove(ref)
        case .disconnect, .lose, .setParameters, .exchangeMTU, .failConnections, .inject, .clearFaults, .resume,
            .loseBonds, .setPairing:
            changeLinks(device.links, control, of: ref)
        case .setAdvertising, .enableAdvertising, .setProximity, .setRSSI, .rename, .changeAddress, .rotateAddress,
            .setPacketLoss:
            changeAir(control, of: ref)
            if !control.changesAddress { radio.air.reportChange(of: ref, &radio.context) }
        }
    }

    // MARK: Values and services

    private mutating func changeServer(_ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .notify(let target, let value):
            guard let id = store(value, in: target, of: ref) else { return }
            if radio.context.isNoting, subscriberCount(target, of: ref) == 0 {
                radio.context.log("new value of \(target) not sent: no central subscribes to it")
            }
            notify(value, id, of: ref)
        case .notifyAtOnce(let path, let value): gatt.notifyAtOnce(value, path, of: ref, &radio)
        case .setValue(let target, let value): _ = store(value, in: target, of: ref)
        case .hold(let path, let isHeld):
            if radio.air.devices[ref]?.server.hold(.path(path), isHeld) == nil { logMissing(.path(path), of: ref) }
        case .addService(let service): gatt.add(service, to: ref, &radio)
        case .removeService(let uuid, let index):
            removeService(radio.air.devices[ref]?.server.database.service(ServicePath(uuid, index: index)), of: ref)
        case .removeServiceNumber(let number):
            removeService(radio.air.devices[ref]?.server.attribute(at: AttributePosition(service: number)), of: ref)
        default: break
        }
    }

    /// Stores the value of the characteristic or descriptor that a control names.
    private mutating func store(_ value: Data, in target: AttributeTarget, of ref: Ref<Device>) -> AttributeID? {
        let id = radio.air.devices[ref]?.server.store(value, in: target)
        if id == nil { logMissing(target, of: ref) }
        return id
    }

    private mutating func logMissing(_ target: AttributeTarget, of ref: Ref<Device>) {
        radio.context.log("control ignored: device \(ref.serial) has no characteristic \(target)")
    }

    func subscriberCount(_ target: AttributeTarget, of ref: Ref<Device>) -> Int {
        guard let device = radio.air.devices[ref] else { return 0 }
        return gatt.subscriberCount(device.server.attribute(target), of: device)
    }

    private mutating func removeService(_ id: AttributeID?, of ref: Ref<Device>) {
        guard let id else { return radio.context.log("control ignored: device \(ref.serial) has no such service") }
        gatt.remove([id], of: ref, &radio)
    }

    // MARK: Links

    private mutating func changeLinks(_ open: [Ref<Link>], _ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .disconnect(let error):
            for link in open {
                radio.links[link]?.closingError = error
                radio.context.queue.schedule(
                    .remoteClose(link), at: radio.links.connectionEvent(of: link, from: radio.context.now))
            }
        case .lose(let staysOnAir): lose(ref, staysOnAir: staysOnAir)
        case .setParameters(let parameters):
            radio.air.devices[ref]?.description.peripheralLatency = parameters.peripheralLatency
            for link in open { radio.links.update(parameters, link, &radio.context) }
        case .exchangeMTU(let mtu): for link in open { exchangeMTU(mtu, on: link) }
        case .failConnections(let count): radio.air.devices[ref]?.faults.failingConnections = count
        case .inject(let fault): radio.air.devices[ref]?.faults.steps.append(fault)
        case .clearFaults:
            radio.air.devices[ref]?.faults.steps = []
            resume(ref)
        case .resume: resume(ref)
        case .loseBonds(let host):
            if let device = radio.air.devices[ref] { security.loseBonds(ref, device, with: host, &radio.context) }
        case .setPairing(let pairing): radio.air.devices[ref]?.description.pairing = pairing
        default: break
        }
    }

    private mutating func exchangeMTU(_ mtu: Int, on ref: Ref<Link>) {
        guard let host = radio.links[ref]?.host else { return }
        let agreed = max(ATTLimits.minimumMTU, min(mtu, maximumMTU(of: host)))
        for (link, _) in radio.links.directions(of: ref) { gatt.setMTU(agreed, on: link, &radio) }
    }

    /// Loses the device's links without disconnecting; hosts notice after the supervision timeout.
    ///
    /// - Parameter reason: The reason for the device's side.
    mutating func lose(_ ref: Ref<Device>, staysOnAir: Bool, reason: DisconnectReason = .timeout) {
        for link in radio.air.devices[ref]?.links ?? [] {
            radio.links.lose(link, &radio.context)
            leaveServer(link, reason: reason)
        }
        if !staysOnAir {
            radio.air.devices[ref]?.advertiser.enable(nil, false, at: radio.context.now)
            radio.air.reportChange(of: ref, &radio.context)
        }
        radio.air.wake(ref, radio.hosts, &radio.context)
    }

    private mutating func remove(_ ref: Ref<Device>) {
        lose(ref, staysOnAir: false)
        radio.air.devices[ref]?.handler.stopTimers(in: &radio.context.queue)
        guard radio.air.remove(ref) != nil else { return }
        security.forget(ref)
        if radio.context.tapped.contains(.devices) { radio.context.report(.deviceRemoved(device: ref.serial)) }
    }

    // MARK: The air

    private mutating func changeAir(_ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .setAdvertising(let index, let description, let firstPacket):
            guard
                radio.air.devices[ref]?.advertiser.setDescription(
                    description, of: index, firstPacket: firstPacket?.nanoseconds, at: radio.context.now) == true
            else { return }
            radio.air.startAdvertising(ref, radio.hosts, &radio.context)
        case .enableAdvertising(let index, let isOn):
            radio.air.devices[ref]?.advertiser.enable(index, isOn, at: radio.context.now)
            radio.air.startAdvertising(ref, radio.hosts, &radio.context)
        case .setProximity(let proximity):
            if radio.air.devices[ref]?.signal.move(to: proximity) == true { rangeChanged(ref) }
        case .setRSSI(let rssi): radio.air.devices[ref]?.signal.rssi = rssi
        case .rename(let name, let isAnnounced):
            radio.air.devices[ref]?.rename(name)
            guard isAnnounced else { return }
            for link in radio.air.devices[ref]?.links ?? [] { readDeviceName(on: link) }
        case .changeAddress(let address):
            // An unbonded device becomes a new peer, and its links end because the old address falls silent.
            lose(ref, staysOnAir: true)
            radio.air.changeAddress(of: ref, to: address, asIdentity: true, security, &radio.hosts, &radio.context)
        case .rotateAddress: radio.air.rotateAddress(of: ref, security, &radio.hosts, &radio.context)
        case .setPacketLoss(let rate):
            radio.air.devices[ref]?.signal.packetLossRate = rate
            radio.air.allowLosses(at: rate)
        default: break
        }
    }
}
