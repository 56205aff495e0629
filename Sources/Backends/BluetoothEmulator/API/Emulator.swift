// The types that descriptions of devices use: UUIDs, properties and ATT error codes.
@_exported public import BluetoothBackend
import BluetoothSupport
@_exported public import BluetoothValues
import Dispatch
import Logging

/// An in-memory backend: one isolated world of emulated hosts and devices.
///
/// A process can have any number of emulators. All members may be called from any thread and return at once. Inputs to
/// the world (commands of managers, simulation controls) are handled in the order of the calls: at once in real time,
/// with the next advance in virtual time.
public final class Emulator: BluetoothBackend {
    /// The emulator of managers that name none.
    ///
    /// It runs in real time with the default settings. Its world comes from the file that `COREBLUETOOTH_WORLD` names
    /// at the first use; without that variable, it contains the built-in devices. If the file cannot be read, the log
    /// contains the error, and the adapter is unplugged.
    public static let shared = shared(worldFile: ProcessInfo.processInfo.environment["COREBLUETOOTH_WORLD"])

    package static func shared(worldFile: String?) -> Emulator {
        guard let worldFile, !worldFile.isEmpty else { return Emulator(verified: .builtIn) }
        do {
            return try Emulator(worldFile: worldFile)
        } catch {
            Logger(label: "CoreBluetooth").line(.error, "no emulated devices: COREBLUETOOTH_WORLD: \(error)")
            let emulator = Emulator()
            emulator.host.setPlugged(false)
            return emulator
        }
    }

    package static let backendName = "emulator"

    /// The backend's name, always "emulator".
    public let name = backendName
    /// The kind of time of this world.
    public let time: EmulatorTime
    /// The seed of all random decisions.
    public let seed: UInt64
    /// The wall-clock date at which the world began: 2025-01-01T00:00:00Z if it began in virtual time.
    package let origin: Date
    let core: Lock<EmulatorCore>
    private let lastDelivery = DeliveryTime()
    let tasks: TaskQueue
    /// The conditions that are checked after each event in virtual time.
    let checks = Lock<[@Sendable () -> Void]>([])
    let calls = HandlerCalls()
    private let start = DispatchTime.now().uptimeNanoseconds
    private let queue = DispatchQueue(label: "CoreBluetooth emulator")

    /// Creates a world that contains only the host "default", powered on.
    ///
    /// - Parameters:
    ///   - configuration: The delays, sizes and chances.
    ///   - time: The kind of time.
    ///   - seed: The seed of all random decisions; the same seed and inputs give the same ``trace``.
    public convenience init(
        configuration: EmulatorConfiguration = .default, time: EmulatorTime = .real, seed: UInt64 = 1
    ) {
        self.init(verified: WorldDescription(), configuration: configuration, time: time, seed: seed)
    }

    /// Creates a described world; it contains the host "default" in any case.
    ///
    /// - Parameters:
    ///   - world: The hosts and devices.
    ///   - configuration: The delays, sizes and chances; nil uses the world's ``WorldDescription/preset``, or else
    ///     ``EmulatorConfiguration/default``.
    ///   - time: The kind of time.
    ///   - seed: The seed of all random decisions; nil uses the world's ``WorldDescription/seed``, or else 1.
    /// - Throws: ``DescriptionError`` naming the path and the rule.
    public convenience init(
        world: WorldDescription, configuration: EmulatorConfiguration? = nil, time: EmulatorTime = .real,
        seed: UInt64? = nil
    ) throws {
        try world.validate()
        self.init(verified: world, configuration: configuration, time: time, seed: seed)
    }

    /// Creates the world that a JSON file describes.
    ///
    /// - Parameters:
    ///   - worldFile: The path of the file.
    ///   - configuration: The delays, sizes and chances; nil uses the file's preset, or else
    ///     ``EmulatorConfiguration/default``.
    ///   - time: The kind of time.
    ///   - seed: The seed of all random decisions; nil uses the file's seed, or else 1.
    /// - Throws: ``DescriptionError`` naming the file, the path and the rule.
    public convenience init(
        worldFile: String, configuration: EmulatorConfiguration? = nil, time: EmulatorTime = .real,
        seed: UInt64? = nil
    ) throws {
        self.init(
            verified: try WorldDescription(contentsOfFile: worldFile), configuration: configuration, time: time,
            seed: seed)
    }

    /// Creates a world from a checked description.
    private convenience init(
        verified description: WorldDescription, configuration: EmulatorConfiguration? = nil,
        time: EmulatorTime = .real, seed: UInt64? = nil
    ) {
        var configuration = configuration ?? description.preset?.configuration ?? .default
        if description.advertisingCollides { configuration.advertisingCollides = true }
        let seed = seed ?? description.seed ?? 1
        let origin = time == .virtual ? Date(timeIntervalSince1970: 1_735_689_600) : Date()
        let traceLimit = configuration.traceLimit ?? (time == .virtual ? 1_000 : 0)
        var world = World(configuration: configuration, seed: seed, origin: origin, traceLimit: traceLimit)
        let hasDefault = description.hosts.contains { $0.name == "default" }
        for host in (hasDefault ? [] : [HostDescription(name: "default")]) + description.hosts {
            world.addHost(Host(host))
        }
        let devices = description.addressedDevices
        var refs: [Ref<Device>] = []
        for device in devices {
            do {
                refs.append(try world.addDevice(EmulatedPeripheral(device)))
            } catch {
                preconditionFailure("a checked description failed: \(error)")
            }
        }
        for host in description.hosts {
            if let index = world.lower.hosts.index(named: host.name) { world.preserveApps(of: host, on: index) }
        }
        world.schedule(description.script, devices, refs)
        self.init(living: world, time: time)
    }

    /// Creates an emulator of an existing world.
    init(living world: World, time: EmulatorTime) {
        self.time = time
        seed = world.lower.context.random.seed
        origin = world.lower.context.timeline.origin
        core = Lock(EmulatorCore(world: world, lastDelivery))
        let taskTime = time == .virtual ? TaskTime(lastDelivery) : nil
        tasks = TaskQueue(taskTime)
        taskTime?.begin(in: self)
        // Installed once for the process; logs what it cannot observe.
        if time == .virtual { _ = JobHooks.coverage }
    }

    #if os(Linux)
    deinit {
        core.withLock { $0.timer }?.stop()
        tasks.time?.endCalls()
    }
    #endif

    // MARK: Time

    /// The time since the world began.
    public var now: Duration {
        .nanoseconds(time == .virtual ? core.withLock { $0.world.lower.context.now } : realNow)
    }

    /// The time of the event that is being delivered, without the lock.
    var deliveryTime: Duration { time == .virtual ? lastDelivery.value : .nanoseconds(realNow) }

    /// The time since the world began, in real or scaled time.
    private var realNow: Nanoseconds {
        let elapsed = Nanoseconds(DispatchTime.now().uptimeNanoseconds - start)
        guard case .scaled(let factor) = time else { return elapsed }
        return Nanoseconds(min(9e18, Double(elapsed) * factor))
    }

    /// The clock of this world for managers.
    public var clock: any BackendClock { EmulatorBackendClock(emulator: self) }

    /// The clock of this world for app code and handlers.
    public var swiftClock: EmulatorClock { EmulatorClock(emulator: self) }

    // MARK: Inputs

    func submit(_ input: WorldInput) {
        perform { $0.world.submit(input) }
    }

    /// Changes the core and, in real time, handles what is due.
    ///
    /// No app code runs inside.
    func perform<Result: Sendable>(_ body: @Sendable (inout EmulatorCore) -> Result) -> Result {
        guard time != .virtual else {
            return core.withLock { core in
                defer { core.deliverTapped() }
                return body(&core)
            }
        }
        let present = realNow
        let (result, followUp) = core.withLock { core -> (Result, EmulatorCore.FollowUp) in
            var followUp = EmulatorCore.FollowUp()
            core.run(until: present, &followUp)
            let result = body(&core)
            core.run(until: present, &followUp)
            arm(&core)
            return (result, followUp)
        }
        start(followUp)
        return result
    }

    /// Starts what follows from outputs, outside the lock.
    private func start(_ followUp: EmulatorCore.FollowUp) {
        for sideEffect in followUp.sideEffects { queue.async { sideEffect(self) } }
        for delivery in followUp.deliveries { delivery.start() }
    }

    /// The resolution of the real timer, in nanoseconds.
    ///
    /// A thousand devices send ten thousand packets per second; a timer for each would cost more than all its effects.
    private static let timerGrid = 1_000_000.0

    /// Sets the real timer for the next due event, up to a millisecond late so that events share a timer.
    private func arm(_ core: inout EmulatorCore) {
        guard let factor = time.factor, let due = core.world.lower.context.queue.nextDue else { return }
        // The real time since the world began; the limit keeps the sum below from overflowing.
        let elapsed = min(1e17, (Double(due) / factor / Self.timerGrid).rounded(.up) * Self.timerGrid)
        let slot = UInt64(max(0, elapsed))
        guard core.armed.map({ slot < $0 }) ?? true else { return }
        core.armed = slot
        #if os(Linux)
        if core.timer == nil {
            core.timer = WorldTimer { [weak self] allowsInline in self?.handleDue(allowsInline) }
        }
        if let timer = core.timer {
            let present = DispatchTime.now().uptimeNanoseconds
            return timer.start(nanoseconds: Int(max(start + slot, present) - present))
        }
        #endif
        // The process has no descriptor or thread left.
        queue.asyncAfter(machineDeadline: DispatchTime(uptimeNanoseconds: start + slot)) { [weak self] in
            _ = self?.handleDue(false)
        }
    }

    /// Handles what is due when the real timer fires.
    ///
    /// - Returns: The delivery as work for the calling thread, if it is the only one: waking another costs more.
    private func handleDue(_ allowsInline: Bool) -> InlineWork? {
        let followUp = handleDue()
        guard allowsInline, followUp.sideEffects.isEmpty, followUp.deliveries.count == 1,
            let alone = followUp.deliveries.first
        else {
            start(followUp)
            return nil
        }
        return { alone.run() }
    }

    private func handleDue() -> EmulatorCore.FollowUp {
        let present = realNow
        return core.withLock { core in
            core.armed = nil
            var followUp = EmulatorCore.FollowUp()
            core.run(until: present, &followUp)
            arm(&core)
            return followUp
        }
    }

    /// Waits until the world has handled what is due on another thread and has delivered its events.
    package func synchronize() { core.withLock { _ in } }

    // MARK: Settings

    /// The settings of this world.
    public var configuration: EmulatorConfiguration { core.withLock { $0.world.lower.context.configuration } }

    /// Changes the settings of the world, in order with all other controls.
    ///
    /// Delays and chances apply to what begins later. What a link agreed when it came up (interval, MTU, supervision
    /// timeout, packets and write credits) stays for that link. A nil ``EmulatorConfiguration/traceLimit`` keeps the
    /// present limit.
    public func configure(_ configuration: EmulatorConfiguration) { submit(.configure(configuration)) }

    /// Sets the chance, 0...1, that interference destroys a packet, of any link or of advertising; 0 ends the
    /// interference.
    ///
    /// If the settings or a device have a greater chance, that one applies. Without a connection interval, no packet of
    /// a link is lost; see ``EmulatorConfiguration/packetLossRate``.
    public func setInterference(_ chance: Double) { submit(.interference(min(1, max(0, chance)))) }

    // MARK: The trace

    /// The commands and events of all managers, the controls, and notes on what no event reports, oldest first.
    ///
    /// ``EmulatorConfiguration/traceLimit`` limits the number of entries.
    public var trace: [TraceEntry] {
        core.withLock { $0.world.lower.context.trace }.entries
    }

    /// The messages of central managers in ``trace``, which costs much less.
    package var centralMessages: [CentralTraceMessage] {
        core.withLock { $0.world.lower.context.trace }.centralMessages
    }
}

extension Emulator {
    /// Adds a device to the world.
    ///
    /// - Throws: ``DescriptionError`` if its address is taken.
    @discardableResult
    public func add(_ peripheral: EmulatedPeripheral) throws -> EmulatedDevice {
        let added = perform { core in
            Result { try core.world.addDevice(peripheral) }
        }
        return EmulatedDevice(emulator: self, ref: try added.get())
    }

    /// Adds a device to the world that serves its description.
    ///
    /// - Throws: ``DescriptionError`` naming the invalid field and the rule.
    @discardableResult
    public func add(_ description: PeripheralDescription) throws -> EmulatedDevice {
        try add(EmulatedPeripheral(description))
    }

    /// All described devices, in the order of their addition.
    ///
    /// The services of a host's peripheral managers are in ``EmulatedHost/peripheral``.
    public var devices: [EmulatedDevice] {
        core.withLock { core in core.world.lower.air.described.map(\.ref) }.map {
            EmulatedDevice(emulator: self, ref: $0)
        }
    }

    /// The first of ``devices`` with a name; nil if no device has it.
    ///
    /// - Parameter name: The name in the device's description, which may differ from the advertised name.
    public func device(named name: String) -> EmulatedDevice? { devices.first { $0.name == name } }

    /// The device with a number, described or not; nil if no device has it.
    public func device(number: UInt32) -> EmulatedDevice? {
        core.withLock { core in core.world.lower.air.devices.refs.first { $0.serial == number } }.map {
            EmulatedDevice(emulator: self, ref: $0)
        }
    }

    /// The number of advertising packets sent so far; packets without a listening host are not sent.
    public var advertisingPackets: Int {
        Int(core.withLock { $0.world.lower.air.packets })
    }
}

/// The kind of time of an emulator.
public enum EmulatorTime: Hashable, Sendable {
    /// The machine's time.
    case real
    /// The machine's time, accelerated by a factor above 0.
    case scaled(by: Double)
    /// Time that advances only when a caller drives it: ``Emulator/advance(by:)``, ``Emulator/advance(until:within:)``,
    /// ``Emulator/runUntilIdle(within:)`` and their synchronous counterparts.
    case virtual

    /// The number of emulated seconds in a real second; nil for virtual time.
    var factor: Double? {
        switch self {
        case .real: 1
        case .scaled(let factor): factor
        case .virtual: nil
        }
    }
}
