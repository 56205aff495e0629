import BluetoothBackend
import BluetoothSupport

/// One device on the air: a described device, or the one that the peripheral managers of a host form.
struct Device: Sendable {
    /// The host whose peripheral managers form the device; nil for a described device.
    let host: Int?
    /// The description with later changes, without what the other properties are made from.
    var description: PeripheralDescription
    var identity: DeviceIdentity
    var signal: DeviceSignal
    var advertiser: Advertiser
    var server: GATTServer
    var handler = DeviceHandler()
    var faults = DeviceFaults()
    /// The links that the device knows of.
    var links: [Ref<Link>] = []

    /// Creates a device and switches it on.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    init(_ peripheral: EmulatedPeripheral, peers: [PeerID], seed: UInt64) throws {
        let description = peripheral.description
        self.init(
            host: nil, description, identity: DeviceIdentity(description.effectiveAddress, peers: peers, seed: seed),
            seed: seed)
        handler = DeviceHandler(peripheral)
        server = GATTServer(handler.isPresent ? .handler : .database)
        signal.proximity = description.proximity
        signal.rssi = description.rssi
        signal.packetLossRate = description.packetLossRate
        faults.steps = description.faults
        try server.addGenericServices(deviceName: description.name)
        for (path, service) in description.services.located(at: "services") { try server.add(service, path: path) }
        server.database.compact()
        handler.behavior?.begin(server.database, address: identity.address, seed: seed)
    }

    /// Creates the device that the peripheral managers of a host form on the air.
    init(server host: Host, number: Int, peers: [PeerID], seed: UInt64) throws {
        let identity = DeviceIdentity(host.identity, peers: peers, seed: seed)
        self.init(host: number, PeripheralDescription(name: host.identity.name), identity: identity, seed: seed)
        signal.isOn = host.adapter.isOn
        try server.addGenericServices(deviceName: description.name)
    }

    private init(host: Int?, _ description: PeripheralDescription, identity: DeviceIdentity, seed: UInt64) {
        self.host = host
        self.description = description
        (self.description.services, self.description.advertising, self.description.faults) = ([], [], [])
        self.identity = identity
        signal = DeviceSignal(random: SeededGenerator(seed: seed, stream: "rssi \(identity.address)"))
        server = GATTServer(.managers)
        advertiser = Advertiser(
            description.advertising.map(Advertiser.AdvertisingSet.init),
            random: SeededGenerator(seed: seed, stream: "advertising delay \(identity.address)"))
    }
}

extension Device {
    /// The properties on which lost packets depend, in a single access.
    var nameAndLossRate: (name: String, lossRate: Double) { (description.name, signal.packetLossRate) }

    /// Removes the first fault that a step meets, if any.
    mutating func takeFault(
        _ step: DeviceFault.Step, _ attribute: AttributeID? = nil, at ref: Ref<Device>, _ context: inout WorldContext
    ) -> DeviceFault.Effect? {
        guard !faults.steps.isEmpty, let effect = faults.remove(step, attribute, in: server.database) else {
            return nil
        }
        recordFault(ref, step, effect, &context)
        return effect
    }

    /// Removes the first failure or fault that a connect meets, if any, and defers a connect that continues later.
    mutating func takeFault(
        connecting ref: Ref<Device>, to host: Int, _ epoch: UInt32, _ admission: ConnectAdmission,
        _ context: inout WorldContext
    ) -> DeviceFault.Effect? {
        if faults.takeFailingConnection()
            || context.random.faults.happens(context.configuration.connectionFailureRate)
        {
            return .fail()
        }
        guard admission == .requested else { return nil }
        let effect = takeFault(.connect, at: ref, &context)
        if effect == .loseAnswer { faults.hostsToLose.insert(host) } else { faults.hostsToLose.remove(host) }
        switch effect {
        case .delay(let time)?:
            context.queue.schedule(
                .established(host, ref, epoch: epoch, .pastFault), at: context.now + max(0, time.nanoseconds))
        case .pause?: faults.pausedConnects.append((host, epoch))
        case .loseAnswer?, .delayAnswer?, .corrupt?: return nil  // the device admits the connect
        case .fail?, .disconnect?, nil: break
        }
        return effect
    }
}

extension Device {
    /// Adds a new link of a host; returns whether a fault loses it at once.
    mutating func addLink(_ ref: Ref<Link>, of host: Int) -> Bool {
        links.append(ref)
        return faults.hostsToLose.remove(host) != nil
    }

    /// Forgets a link that ended; returns whether the device knew of it.
    mutating func removeLink(_ ref: Ref<Link>) -> Bool {
        let count = links.count
        links.removeAll { $0 == ref }
        return links.count < count
    }

    /// Serves a read or a write, unless a long write has more parts than the server queues.
    mutating func serve(_ answered: ATTTransaction, _ queueLength: Int, _ hosts: inout Hosts) -> GATTServer.Access {
        if case .request(.write(let attribute, let value, let offset)) = answered.operation.kind {
            let parts = RoundTrips.writing(count: value.count, offset: offset, mtu: answered.link.mtu) - 1
            if parts > 0, parts > description.prepareQueueLength ?? queueLength {
                let refusal = server.database.refusal(attribute, isWrite: true, on: answered.link.security)
                return .refused(refusal ?? .prepareQueueFull)
            }
        }
        return server.serve(answered, &hosts)
    }
}

struct DeviceFaults: Sendable {
    var steps: [DeviceFault] = []
    /// The connects of hosts that wait for ``EmulatedDevice/resume()``.
    var pausedConnects: [(host: Int, epoch: UInt32)] = []
    /// The number of next connects that fail.
    var failingConnections = 0
    /// The hosts whose last connect met a fault that loses the link as soon as it is up.
    var hostsToLose: Set<Int> = []

    mutating func takePausedConnects() -> [(host: Int, epoch: UInt32)] { exchange(&pausedConnects, with: []) }

    /// Counts down the next connects that fail; returns whether there is one.
    mutating func takeFailingConnection() -> Bool {
        guard failingConnections > 0 else { return false }
        failingConnections -= 1
        return true
    }

    /// Removes the faults of the same step, effect and characteristic.
    mutating func remove(_ fault: DeviceFault) {
        steps.removeAll {
            $0.step == fault.step && $0.effect == fault.effect && $0.characteristic == fault.characteristic
        }
        if fault == DeviceFault(.connect, .fail(), skip: fault.skip, count: fault.count) { failingConnections = 0 }
    }

    /// Removes or counts down the first fault that a step meets; earlier faults that skip the step count it.
    mutating func remove(
        _ step: DeviceFault.Step, _ attribute: AttributeID?, in database: AttributeDatabase
    ) -> DeviceFault.Effect? {
        for index in steps.indices where steps[index].step == step {
            if let path = steps[index].characteristic, database.characteristic(path) != attribute { continue }
            guard steps[index].skip == 0 else {
                steps[index].skip -= 1
                continue
            }
            let effect = steps[index].effect
            switch steps[index].count {
            case nil: break
            case let count? where count > 1: steps[index].count = count - 1
            case _?: steps.remove(at: index)
            }
            return effect
        }
        return nil
    }
}
