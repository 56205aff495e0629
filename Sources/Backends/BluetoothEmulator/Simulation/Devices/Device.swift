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
            host: nil, description,
            identity: DeviceIdentity(description.effectiveAddress, peers: peers, seed: seed), seed: seed)
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
        self.init(
            host: number, PeripheralDescription(name: host.identity.name), identity: identity, seed: seed)
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
}

struct DeviceFaults: Sendable {
    var steps: [DeviceFault] = []
    /// The connects of hosts that wait for ``EmulatedDevice/resume()``.
    var pausedConnects: [(host: Int, epoch: UInt32)] = []
    /// The number of next connects that fail.
    var failingConnections = 0

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

/// The handler of a device, with its timers.
struct DeviceHandler: Sendable {
    private struct Timer: Sendable {
        let period: Duration?
        let generation: UInt32
        /// The token of a one-shot timer.
        var token: WorldQueue.Token?
    }

    var behavior: (any DeviceBehavior)?
    /// The built-in handler; nil if the device has its own handler or no handler.
    private(set) var builtIn: BuiltInHandler?
    private(set) var asynchronous: (any AsynchronousPeripheralHandler)?
    /// The hosts about whose connects an asynchronous handler is being asked, with the epochs of their adapters.
    var askedConnects: [Int: UInt32] = [:]
    /// Whether the behavior determines the times of its answers.
    private(set) var hasResponseTimes = false
    private var timers: [Int: Timer] = [:]
    private var lastGeneration: UInt32 = 0

    init() {}

    init(_ peripheral: EmulatedPeripheral) {
        behavior = peripheral.makeBehavior?()
        builtIn = peripheral.builtInHandler
        hasResponseTimes = peripheral.description.replay?.options.latency == .recorded
        asynchronous = peripheral.asynchronousHandler
    }

    var isPresent: Bool { behavior != nil || asynchronous != nil }

    /// Whether the handler has a parameter; a custom handler may have any.
    func accepts(_ parameter: DeviceParameter) -> Bool {
        isPresent && builtIn.map { $0.parameters[parameter] != nil } ?? true
    }

    /// Starts a timer, and replaces an earlier timer with its number.
    mutating func startTimer(
        _ number: Int, after delay: Duration, every period: Duration?, of ref: Ref<Device>, in queue: inout WorldQueue
    ) {
        stopTimer(number, in: &queue)
        lastGeneration += 1
        let event = WorldEvent.deviceTimer(ref, number, generation: lastGeneration)
        let due = queue.now + max(0, delay.nanoseconds)
        var timer = Timer(period: period, generation: lastGeneration)
        if period == nil {
            timer.token = queue.scheduleCancellable(event, at: due)
        } else {
            queue.schedule(event, at: due, isPeriodic: true)
        }
        timers[number] = timer
    }

    mutating func stopTimer(_ number: Int, in queue: inout WorldQueue) {
        if let token = timers.removeValue(forKey: number)?.token { queue.cancel(token) }
    }

    mutating func stopTimers(in queue: inout WorldQueue) {
        for number in timers.keys.sorted() { stopTimer(number, in: &queue) }
    }

    /// Fires a timer; a periodic one is scheduled again.
    ///
    /// - Returns: Whether the timer was running.
    mutating func timerFired(
        _ number: Int, _ generation: UInt32, of ref: Ref<Device>, in queue: inout WorldQueue
    ) -> Bool {
        guard let timer = timers[number], timer.generation == generation else { return false }
        if let period = timer.period {
            queue.schedule(
                .deviceTimer(ref, number, generation: generation), at: queue.now + max(1, period.nanoseconds),
                isPeriodic: true)
        } else {
            timers[number] = nil
        }
        return true
    }
}
