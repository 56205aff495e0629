import BluetoothBackend
import BluetoothSupport

// What devices do by themselves or are made to do.
extension World {
    /// Puts a device on the air.
    ///
    /// - Throws: ``DescriptionError`` when the address is taken.
    mutating func addDevice(_ peripheral: EmulatedPeripheral) throws -> Ref<Device> {
        let address = peripheral.description.effectiveAddress
        guard !addresses.contains(address) else {
            throw DescriptionError("address", "another device has the address \(address)")
        }
        let identities = hosts.map { $0.identity(of: address) }
        let ref = devices.insert(try Device(peripheral, identities: identities, seed: seed))
        addresses.insert(address)
        if peripheral.description.packetLossRate > 0 { isLossy = true }
        let parameters = peripheral.description.parameters.sorted { $0.key.rawValue < $1.key.rawValue }
        for (parameter, value) in parameters { setParameter(parameter, value, of: ref) }
        submit(.deviceAdded(ref))
        return ref
    }

    /// Adds a host; devices become known to it when it hears them.
    mutating func addHost(_ host: Host) {
        hosts.append(host)
        if let period = host.addressRotation {
            queue.schedule(.rotateHostAddress(hosts.count - 1), at: now + period.nanoseconds, isPeriodic: true)
        }
        for ref in devices.refs {
            guard let address = devices[ref]?.address else { continue }
            devices[ref]?.identities.append(host.identity(of: address))
        }
    }

    mutating func apply(_ control: DeviceControl, to ref: Ref<Device>) {
        guard devices.contains(ref) else { return }
        if control.changesDescription, devices[ref]?.belongsToHost == true {
            return trace.note("control ignored: the device is what its host's managers publish", at: now)
        }
        switch control {
        case .notify(let path, let value): update(path, value, of: ref)
        case .notifyAtOnce, .setParameter, .note: applyForHandler(control, to: ref)
        case .setValue(let path, let value):
            guard let id = existing(path, of: ref) else { return }
            devices[ref]?.database[id]?.value = value
        case .hold(let path, let isHeld):
            guard let id = existing(path, of: ref) else { return }
            devices[ref]?.database[id]?.isHeld = isHeld
        case .disconnect:
            for link in devices[ref]?.links ?? [] {
                queue.schedule(.remoteClose(link), at: links[link]?.connectionEvent(from: now) ?? now)
            }
        case .lose(let staysOnAir): lose(ref, staysOnAir: staysOnAir)
        case .addService(let service): addService(service, to: ref)
        case .removeService(let uuid, let index): removeService(uuid, index, of: ref)
        case .exchangeMTU(let mtu): exchangeMTU(mtu, ref)
        case .inject, .clearFaults, .resume: applyFault(control, to: ref)
        case .failConnections(let count): devices[ref]?.failingConnections = count
        case .startTimer(let number, let delay, let period): startTimer(number, delay, period, of: ref)
        case .stopTimer(let number): stopTimer(number, of: ref)
        case .loseBonds(let host): loseBonds(ref, with: host)
        case .setParameters(let parameters):
            devices[ref]?.latency = parameters.peripheralLatency
            for link in devices[ref]?.links ?? [] { update(parameters, link) }
        case .send(let channel, let data): sendOnChannel(channel, data, of: ref)
        case .closeChannel(let channel):
            if channels[channel].flatMap({ links[$0.link] })?.device == ref { close(channel, by: .peripheral) }
        case .remove: remove(ref)
        case .setAdvertising, .enableAdvertising, .setProximity, .setRSSI, .rename, .changeAddress, .setPairing,
            .rotateAddress,
            .setPacketLoss:
            changeAir(control, of: ref)
        }
    }

    /// What a device shows on the air.
    private mutating func changeAir(_ control: DeviceControl, of ref: Ref<Device>) {
        switch control {
        case .setAdvertising(let index, let description): setAdvertising(index, description, of: ref)
        case .enableAdvertising(let index, let isOn):
            for position in devices[ref]?.sets.indices ?? 0..<0 where index == nil || index == position {
                devices[ref]?.sets[position].isEnabled = isOn
                if isOn { devices[ref]?.sets[position].enabling += 1 }
            }
            limitAdvertising(ref)
            wake(ref)
        case .setProximity(let proximity):
            let wasInRange = devices[ref]?.isInRange
            devices[ref]?.proximity = proximity
            if devices[ref]?.isInRange != wasInRange { rangeChanged(ref) }
        case .setRSSI(let rssi): devices[ref]?.rssi = rssi
        case .rename(let name):
            devices[ref]?.name = name
            guard let id = devices[ref]?.deviceName else { return }
            devices[ref]?.database[id]?.value = Data(name.utf8)
        case .changeAddress(let address): changeAddress(address, of: ref)
        case .setPairing(let pairing): devices[ref]?.pairing = pairing
        case .rotateAddress: rotateAddress(of: ref)
        case .setPacketLoss(let rate):
            devices[ref]?.packetLossRate = rate
            if rate > 0 { isLossy = true }
        default: break
        }
    }

    private mutating func setAdvertising(_ index: Int, _ description: AdvertisingDescription, of ref: Ref<Device>) {
        guard let sets = devices[ref]?.sets, (0...sets.count).contains(index) else { return }
        var set = Device.AdvertisingSet(description)
        if index < sets.count {
            set.generation = sets[index].generation + 1
            set.lastPacket = sets[index].lastPacket
            set.enabling = sets[index].enabling + 1
            devices[ref]?.sets[index] = set
        } else {
            devices[ref]?.sets.append(set)
        }
        limitAdvertising(ref)
        wake(ref)
    }

    /// An unbonded device under a new address is a new peer; its links end, as the old address falls silent.
    private mutating func changeAddress(_ address: DeviceAddress, of ref: Ref<Device>) {
        lose(ref, staysOnAir: true)
        setAddress(address, of: ref)
        devices[ref]?.identityAddress = address
        showAddress(of: ref)
    }

    /// The device forgets its links without a word; hosts notice by supervision timeout.
    mutating func lose(_ ref: Ref<Device>, staysOnAir: Bool) {
        for link in devices[ref]?.links ?? [] {
            fallSilent(link)
            links[link]?.isLost = true
            leaveServer(link)
        }
        if !staysOnAir {
            for index in devices[ref]?.sets.indices ?? 0..<0 { devices[ref]?.sets[index].isEnabled = false }
        }
        wake(ref)
    }

    private mutating func remove(_ ref: Ref<Device>) {
        lose(ref, staysOnAir: false)
        for number in devices[ref]?.handlerTimers.keys.sorted() ?? [] { stopTimer(number, of: ref) }
        if let device = devices.remove(ref) { addresses.remove(device.address) }
    }

    // MARK: Values

    func characteristic(_ path: CharacteristicPath, of ref: Ref<Device>) -> AttributeID? {
        guard let database = devices[ref]?.database else { return nil }
        return database.characteristic(path)
    }

    /// Notifies or indicates a value on one link, cut to what a packet takes, if its central subscribes.
    mutating func notify(_ value: Data, _ attribute: AttributeID, on ref: Ref<Link>) {
        guard let kind = links[ref]?.subscriptions[attribute], let mtu = links[ref]?.mtu else { return }
        send(.value(attribute, value.prefix(mtu - 3), needsConfirmation: kind == .indications, sender: nil), on: ref)
    }

    /// How many links subscribe to a characteristic.
    func subscriberCount(_ path: CharacteristicPath, of ref: Ref<Device>) -> Int {
        guard let id = characteristic(path, of: ref) else { return 0 }
        return devices[ref]?.links.count { links[$0]?.subscriptions[id] != nil } ?? 0
    }

    // MARK: Services

    private mutating func addService(_ service: ServiceDescription, to ref: Ref<Device>) {
        do {
            guard let id = try devices[ref]?.addService(service, path: "service"),
                let record = devices[ref]?.database.record(ofService: id)
            else { return }
            tellServicesChanged(removed: [], added: [record], of: ref)
        } catch {
            trace.note("service not added: \(error)", at: now)
        }
    }

    private mutating func removeService(_ uuid: BluetoothUUID, _ index: Int, of ref: Ref<Device>) {
        guard let database = devices[ref]?.database,
            let id = database.services.filter({ database[$0]?.uuid == uuid }).dropFirst(index).first
        else { return }
        removeServices([id], of: ref)
    }

    /// Removes services with all within, subscriptions included, and tells those who are connected.
    mutating func removeServices(_ ids: [AttributeID], of ref: Ref<Device>) {
        guard !ids.isEmpty else { return }
        for id in ids {
            let gone = devices[ref]?.database[id]?.children ?? []
            devices[ref]?.database.remove(id)
            for attribute in gone { devices[ref]?.notifyTimers[attribute] = nil }
            for link in devices[ref]?.links ?? [] {
                for attribute in gone { links[link]?.subscriptions[attribute] = nil }
            }
        }
        tellServicesChanged(removed: ids, added: [], of: ref)
    }

    /// Service Changed, which every host subscribes to by itself.
    mutating func tellServicesChanged(removed: [AttributeID], added: [ServiceRecord], of ref: Ref<Device>) {
        for link in devices[ref]?.links ?? [] { send(.servicesChanged(removed: removed, added: added), on: link) }
    }

    private mutating func exchangeMTU(_ mtu: Int, _ ref: Ref<Device>) {
        for link in devices[ref]?.links ?? [] {
            let agreed = max(23, min(mtu, configuration.maximumMTU))
            setMTU(agreed, on: link)
            if let other = links[link]?.other { setMTU(agreed, on: other) }
        }
    }

    private mutating func setMTU(_ mtu: Int, on link: Ref<Link>) {
        guard let host = links[link]?.host, let peer = links[link]?.peer, links[link]?.mtu != mtu else { return }
        links[link]?.mtu = mtu
        tellMTU(mtu, on: link)
        for lease in hosts[host].ledger.leases(of: peer) {
            guard let id = lease.link, managers.contains(Ref(packed: lease.manager)) else { continue }
            emit(.mtuChanged(link: id, mtu: mtu), to: Ref(packed: lease.manager))
        }
    }

    // MARK: Handlers and timers

    /// Tells a device's handler what happened.
    mutating func handle(_ event: DeviceEvent, at ref: Ref<Device>) {
        guard devices[ref]?.behaviour != nil else { return }
        var actions = DeviceActions(now: .nanoseconds(now), date: date)
        devices[ref]?.behaviour?.handle(event, device: &actions)
        for control in actions.controls { apply(control, to: ref) }
    }

    private mutating func startTimer(_ number: Int, _ delay: Duration, _ period: Duration?, of ref: Ref<Device>) {
        stopTimer(number, of: ref)
        guard let last = devices[ref]?.lastTimerGeneration else { return }
        devices[ref]?.lastTimerGeneration = last + 1
        let event = WorldEvent.deviceTimer(ref, number, generation: last + 1)
        let due = now + max(0, delay.nanoseconds)
        var timer = Device.HandlerTimer(period: period, generation: last + 1)
        if period == nil {
            timer.token = queue.scheduleCancellable(event, at: due)
        } else {
            queue.schedule(event, at: due, isPeriodic: true)
        }
        devices[ref]?.handlerTimers[number] = timer
    }

    private mutating func stopTimer(_ number: Int, of ref: Ref<Device>) {
        guard let timer = devices[ref]?.handlerTimers.removeValue(forKey: number), let token = timer.token else {
            return
        }
        queue.cancel(token)
    }

    mutating func handlerTimerFired(_ ref: Ref<Device>, _ number: Int, _ generation: UInt32) {
        guard let timer = devices[ref]?.handlerTimers[number], timer.generation == generation else { return }
        if let period = timer.period {
            queue.schedule(
                .deviceTimer(ref, number, generation: generation), at: now + max(1, period.nanoseconds),
                isPeriodic: true)
        } else {
            devices[ref]?.handlerTimers[number] = nil
        }
        handle(.timer(number), at: ref)
    }

    /// Starts the timers of a characteristic that just got a subscriber.
    mutating func startNotifyTimers(_ attribute: AttributeID, of ref: Ref<Device>) {
        guard let running = devices[ref]?.notifyTimers[attribute], !running.isRunning else { return }
        devices[ref]?.notifyTimers[attribute]?.isRunning = true
        queue.schedule(.notifyTimer(ref, attribute), at: now + running.timer.interval.nanoseconds, isPeriodic: true)
    }

    mutating func notifyTimerFired(_ ref: Ref<Device>, _ attribute: AttributeID) {
        guard let device = devices[ref], let running = device.notifyTimers[attribute] else { return }
        guard device.links.contains(where: { links[$0]?.subscriptions[attribute] != nil }) else {
            devices[ref]?.notifyTimers[attribute]?.isRunning = false
            return
        }
        let values = running.timer.values
        if !values.isEmpty {
            devices[ref]?.database[attribute]?.value = values[running.position % values.count]
            devices[ref]?.notifyTimers[attribute]?.position += 1
        }
        let value = devices[ref]?.database[attribute]?.value ?? Data()
        for link in device.links { notify(value, attribute, on: link) }
        queue.schedule(.notifyTimer(ref, attribute), at: now + running.timer.interval.nanoseconds, isPeriodic: true)
    }
}
