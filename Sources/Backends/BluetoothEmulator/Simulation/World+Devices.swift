import BluetoothBackend
import BluetoothSupport
import BluetoothValues

// The devices: simulation controls, services, handlers and timers.
extension World {
    /// Adds a device, which begins to advertise.
    ///
    /// - Throws: ``DescriptionError`` if the address is taken.
    mutating func addDevice(_ peripheral: EmulatedPeripheral) throws -> Ref<Device> {
        let address = peripheral.description.effectiveAddress
        try air.requireFree(address)
        let peers = hosts.map { $0.identity.peerID(of: address) }
        let ref = air.insert(try Device(peripheral, peers: peers, seed: context.random.seed))
        let parameters = peripheral.description.parameters.sorted { $0.key.rawValue < $1.key.rawValue }
        for (parameter, value) in parameters { setParameter(parameter, value, of: ref) }
        air.devices[ref]?.reportAddition(ref, &context)
        submit(.deviceAdded(ref))
        return ref
    }

    /// Adds a host, which learns of devices when it hears them.
    mutating func addHost(_ host: Host) {
        hosts.append(host)
        let number = hosts.count - 1
        if context.tapped.contains(.hosts) { context.report(.hostAdded(host.tapped(number))) }
        if let period = host.identity.rotation {
            context.queue.schedule(
                .rotateHostAddress(number), at: context.now + period.nanoseconds, isPeriodic: true)
        }
        for ref in air.devices.refs { air.devices[ref]?.identity.learn(host.identity) }
    }

    mutating func apply(_ control: DeviceControl, to ref: Ref<Device>) {
        guard air.devices.contains(ref) else { return }
        if control.changesDescription, air.devices[ref]?.host != nil {
            return context.log("control ignored: the device is what its host's managers publish")
        }
        switch control {
        case .notify(let target, let value): update(target, value, of: ref)
        case .notifyAtOnce(let path, let value): notifyAtOnce(path, value, of: ref)
        case .setParameter(let parameter, let value): setParameter(parameter, value, of: ref)
        case .note(let text): context.log(text)
        case .setValue(let target, let value):
            guard let id = existing(target, of: ref) else { return }
            air.devices[ref]?.server.database[id]?.value = value
        case .hold(let path, let isHeld):
            guard let id = existing(.path(path), of: ref) else { return }
            air.devices[ref]?.server.database[id]?.access.isHeld = isHeld
        case .addService(let service): addService(service, to: ref)
        case .removeService(let uuid, let index):
            removeService(air.devices[ref]?.server.database.service(ServicePath(uuid, index: index)), of: ref)
        case .removeServiceNumber(let number):
            removeService(air.devices[ref]?.server.attribute(at: AttributePosition(service: number)), of: ref)
        case .startTimer(let number, let delay, let period):
            air.devices[ref]?.handler.startTimer(number, after: delay, every: period, of: ref, in: &context.queue)
        case .stopTimer(let number): air.devices[ref]?.handler.stopTimer(number, in: &context.queue)
        case .send(let channel, let data): channels.send(data, on: channel, of: ref, &links, &air, &context)
        case .closeChannel(let channel): channels.close(channel, of: ref, links, &context)
        case .remove: remove(ref)
        case .disconnect, .lose, .setParameters, .exchangeMTU, .failConnections, .inject, .clearFaults, .resume,
            .loseBonds, .setPairing:
            changeLinks(control, of: ref)
        case .setAdvertising, .enableAdvertising, .setProximity, .setRSSI, .rename, .changeAddress, .rotateAddress,
            .setPacketLoss:
            changeAir(control, of: ref)
            if !control.changesAddress { air.reportChange(of: ref, &context) }
        }
    }

    private mutating func changeLinks(_ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .disconnect(let error):
            for link in air.devices[ref]?.links ?? [] {
                links[link]?.server.requests.closingError = error
                context.queue.schedule(
                    .remoteClose(link), at: links.connectionEvent(of: link, from: context.now))
            }
        case .lose(let staysOnAir): lose(ref, staysOnAir: staysOnAir)
        case .setParameters(let parameters):
            air.devices[ref]?.description.peripheralLatency = parameters.peripheralLatency
            for link in air.devices[ref]?.links ?? [] { links.update(parameters, link, &context) }
        case .exchangeMTU(let mtu): exchangeMTU(mtu, ref)
        case .failConnections(let count): air.devices[ref]?.faults.failingConnections = count
        case .inject(let fault): air.devices[ref]?.faults.steps.append(fault)
        case .clearFaults:
            air.devices[ref]?.faults.steps = []
            resume(ref)
        case .resume: resume(ref)
        case .loseBonds(let host):
            if let device = air.devices[ref] { security.loseBonds(ref, device, with: host, &context) }
        case .setPairing(let pairing): air.devices[ref]?.description.pairing = pairing
        default: break
        }
    }

    private mutating func changeAir(_ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .setAdvertising(let index, let description, let firstPacket):
            setAdvertising(index, description, firstPacket, of: ref)
        case .enableAdvertising(let index, let isOn):
            air.devices[ref]?.advertiser.enable(index, isOn, at: context.now)
            air.devices[ref]?.limitAdvertising(ref, &context)
            air.wake(ref, hosts, &context)
        case .setProximity(let proximity):
            let wasInRange = air.devices[ref]?.signal.isInRange
            air.devices[ref]?.signal.proximity = proximity
            if air.devices[ref]?.signal.isInRange != wasInRange { rangeChanged(ref) }
        case .setRSSI(let rssi): air.devices[ref]?.signal.rssi = rssi
        case .rename(let name, let isAnnounced): rename(ref, name, isAnnounced: isAnnounced)
        case .changeAddress(let address): changeAddress(address, of: ref)
        case .rotateAddress: air.rotateAddress(of: ref, security, &hosts, &context)
        case .setPacketLoss(let rate):
            air.devices[ref]?.signal.packetLossRate = rate
            air.allowLosses(at: rate)
        default: break
        }
    }

    /// Changes the GAP Device Name; if the change is announced, connected hosts read the name again.
    private mutating func rename(_ ref: Ref<Device>, _ name: String, isAnnounced: Bool) {
        air.devices[ref]?.description.name = name
        guard let id = air.devices[ref]?.server.deviceName else { return }
        air.devices[ref]?.server.database[id]?.value = Data(name.utf8)
        guard isAnnounced else { return }
        for link in air.devices[ref]?.links ?? [] {
            enqueue(LinkOperation(manager: otherApp, kind: .deviceName), on: link)
        }
    }

    private mutating func setAdvertising(
        _ index: Int, _ description: AdvertisingDescription, _ firstPacket: Duration?, of ref: Ref<Device>
    ) {
        guard let count = air.devices[ref]?.advertiser.sets.count, (0...count).contains(index) else { return }
        air.devices[ref]?.advertiser.setDescription(
            description, of: index, firstPacket: firstPacket?.nanoseconds, at: context.now)
        air.devices[ref]?.limitAdvertising(ref, &context)
        air.wake(ref, hosts, &context)
    }

    /// Changes the address: an unbonded device becomes a new peer, and its links end because the old address falls
    /// silent.
    private mutating func changeAddress(_ address: DeviceAddress, of ref: Ref<Device>) {
        lose(ref, staysOnAir: true)
        air.changeAddress(of: ref, to: address, asIdentity: true, security, &hosts, &context)
    }

    /// Loses the device's links without disconnecting; hosts notice after the supervision timeout.
    ///
    /// - Parameter reason: The reason for the device's side.
    mutating func lose(_ ref: Ref<Device>, staysOnAir: Bool, reason: DisconnectReason = .timeout) {
        for link in air.devices[ref]?.links ?? [] {
            links.fallSilent(link, &context)
            links[link]?.supervision.isLost = true
            leaveServer(link, reason: reason)
        }
        if !staysOnAir {
            air.devices[ref]?.advertiser.enable(nil, false, at: context.now)
            air.reportChange(of: ref, &context)
        }
        air.wake(ref, hosts, &context)
    }

    private mutating func remove(_ ref: Ref<Device>) {
        lose(ref, staysOnAir: false)
        air.devices[ref]?.handler.stopTimers(in: &context.queue)
        guard air.remove(ref) != nil else { return }
        security.forget(ref)
        if context.tapped.contains(.devices) { context.report(.deviceRemoved(device: ref.serial)) }
    }

    // MARK: Values

    /// Returns the characteristic that a control names; if it does not exist, adds a line to the trace.
    mutating func existing(_ target: AttributeTarget, of ref: Ref<Device>) -> AttributeID? {
        let id = air.devices[ref]?.server.attribute(target)
        if id == nil { context.log("control ignored: device \(ref.serial) has no characteristic \(target)") }
        return id
    }

    mutating func update(_ target: AttributeTarget, _ value: Data, of ref: Ref<Device>) {
        guard let id = existing(target, of: ref) else { return }
        air.devices[ref]?.server.database[id]?.value = value
        if context.isNoting, subscriberCount(target, of: ref) == 0 {
            context.log("new value of \(target) not sent: no central subscribes to it")
        }
        for link in air.devices[ref]?.links ?? [] { notify(value, id, on: link) }
    }

    func characteristic(_ path: CharacteristicPath, of ref: Ref<Device>) -> AttributeID? {
        guard let database = air.devices[ref]?.server.database else { return nil }
        return database.characteristic(path)
    }

    /// Notifies or indicates a value on one link, truncated to a packet, if the link's central subscribes.
    mutating func notify(_ value: Data, _ attribute: AttributeID, on ref: Ref<Link>) {
        guard let kind = links[ref]?.server.subscriptions[attribute], let mtu = links[ref]?.mtu else { return }
        send(
            .value(
                attribute, value.prefix(ATTLimits.written(mtu: mtu)), needsConfirmation: kind == .indications,
                sender: nil), on: ref)
    }

    func subscriberCount(_ target: AttributeTarget, of ref: Ref<Device>) -> Int {
        guard let id = air.devices[ref]?.server.attribute(target) else { return 0 }
        return air.devices[ref]?.links.count { links[$0]?.server.subscriptions[id] != nil } ?? 0
    }

    // MARK: Services

    private mutating func addService(_ service: ServiceDescription, to ref: Ref<Device>) {
        do {
            guard let id = try air.devices[ref]?.server.add(service, path: "service"),
                let record = air.devices[ref]?.server.database.record(ofService: id)
            else { return }
            reportServicesChanged(removed: [], added: [record], of: ref)
        } catch {
            context.log("service not added: \(error)")
        }
    }

    private mutating func removeService(_ id: AttributeID?, of ref: Ref<Device>) {
        guard let id else { return context.log("control ignored: device \(ref.serial) has no such service") }
        removeServices([id], of: ref)
    }

    /// Removes services with everything in them and all subscriptions, and indicates Service Changed to connected
    /// centrals.
    mutating func removeServices(_ ids: [AttributeID], of ref: Ref<Device>) {
        guard !ids.isEmpty else { return }
        for id in ids {
            let gone = air.devices[ref]?.server.remove(id) ?? []
            for link in air.devices[ref]?.links ?? [] {
                for attribute in gone { links[link]?.server.subscriptions[attribute] = nil }
            }
        }
        reportServicesChanged(removed: ids, added: [], of: ref)
    }

    /// Sends Service Changed, to which every host subscribes by itself.
    mutating func reportServicesChanged(removed: [AttributeID], added: [ServiceRecord], of ref: Ref<Device>) {
        air.devices[ref]?.reportServices(ref, &context)
        for link in air.devices[ref]?.links ?? [] { send(.servicesChanged(removed: removed, added: added), on: link) }
    }

    private mutating func exchangeMTU(_ mtu: Int, _ ref: Ref<Device>) {
        for link in air.devices[ref]?.links ?? [] {
            guard let host = links[link]?.host else { continue }
            let agreed = max(ATTLimits.minimumMTU, min(mtu, maximumMTU(of: host)))
            setMTU(agreed, on: link)
            if let other = links[link]?.other { setMTU(agreed, on: other) }
        }
    }

    private mutating func setMTU(_ mtu: Int, on link: Ref<Link>) {
        guard let host = links[link]?.host, let peer = links[link]?.peer, links[link]?.mtu != mtu else { return }
        links[link]?.mtu = mtu
        if context.tapped.contains(.links) { context.report(.mtuChanged(link: link.serial, mtu: mtu)) }
        reportMTU(mtu, on: link)
        hosts.emit(toLeasesOf: peer, on: host, &context) { .mtuChanged(link: $0, mtu: mtu) }
    }

    // MARK: Handlers and timers

    mutating func handle(_ event: DeviceEvent, at ref: Ref<Device>) {
        guard air.devices[ref]?.handler.isPresent == true else { return }
        if air.devices[ref]?.handler.asynchronous != nil { return call(ref, .event(event), for: .event) }
        var actions = DeviceActions(now: .nanoseconds(context.now), date: context.date)
        air.devices[ref]?.handler.behavior?.handle(event, device: &actions)
        for control in actions.controls { apply(control, to: ref) }
    }

    mutating func handlerTimerFired(_ ref: Ref<Device>, _ number: Int, _ generation: UInt32) {
        guard air.devices[ref]?.handler.timerFired(number, generation, of: ref, in: &context.queue) == true else {
            return
        }
        handle(.timer(number), at: ref)
    }

    /// Starts the timers of a characteristic that has its first subscriber.
    mutating func startNotifyTimers(_ attribute: AttributeID, of ref: Ref<Device>) {
        guard let interval = air.devices[ref]?.server.startTimer(of: attribute) else { return }
        context.queue.schedule(.notifyTimer(ref, attribute), at: context.now + interval, isPeriodic: true)
    }

    mutating func notifyTimerFired(_ ref: Ref<Device>, _ attribute: AttributeID) {
        guard let links = air.devices[ref]?.links else { return }
        guard links.contains(where: { self.links[$0]?.server.subscriptions[attribute] != nil }) else {
            air.devices[ref]?.server.stopTimer(of: attribute)
            return
        }
        guard let (value, interval) = air.devices[ref]?.server.timerFired(of: attribute) else { return }
        for link in links { notify(value, attribute, on: link) }
        context.queue.schedule(.notifyTimer(ref, attribute), at: context.now + interval, isPeriodic: true)
    }
}
