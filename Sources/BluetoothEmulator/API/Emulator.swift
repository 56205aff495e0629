// The types that descriptions of devices use: UUIDs, properties and ATT error codes.
@_exported public import BluetoothBackend
import BluetoothSupport
@_exported public import BluetoothValues
import Dispatch
import Logging

/// An in-memory backend: one isolated world of emulated hosts and devices.
///
/// Any number of emulators live side by side. All members may be called from any thread and return at once. What is
/// done to the world (commands of managers, simulation controls) enters one line and happens in that order: at once in
/// real time, with the next drive in virtual time.
public final class Emulator: BluetoothBackend {
    /// The emulator of managers that name none: real time, the default settings, and the world of the file that
    /// `COREBLUETOOTH_WORLD` names at the first use, or else the built-in devices.
    ///
    /// With a file that cannot be read, the log has the error, and the adapter is unplugged.
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

    static let backendName = "emulator"

    /// Always "emulator".
    public let name = backendName
    /// The kind of time of this world.
    public let time: EmulatorTime
    /// The seed of all random decisions.
    public let seed: UInt64
    /// The wall date of the world's beginning: 2025-01-01T00:00:00Z where it began in virtual time.
    let origin: Date
    let core: Lock<EmulatorCore>
    private let lastDelivery = DeliveryTime()
    let tasks = TaskQueue()
    let calls = HandlerCalls()
    private let start = DispatchTime.now().uptimeNanoseconds
    private let queue = DispatchQueue(label: "CoreBluetooth emulator")

    /// A world with the host "default" alone, powered on.
    ///
    /// - Parameters:
    ///   - configuration: Delays, sizes and chances.
    ///   - time: Real, scaled or virtual.
    ///   - seed: From which all chance follows; the same seed and inputs give the same ``trace``.
    public convenience init(
        configuration: EmulatorConfiguration = .default, time: EmulatorTime = .real, seed: UInt64 = 1
    ) {
        self.init(verified: WorldDescription(), configuration: configuration, time: time, seed: seed)
    }

    /// A world as described; with the host "default", whether it is described or not.
    ///
    /// - Parameters:
    ///   - world: The hosts and devices.
    ///   - configuration: Delays, sizes and chances; nil takes the world's ``WorldDescription/preset``, or else
    ///     ``EmulatorConfiguration/default``.
    ///   - time: Real, scaled or virtual.
    ///   - seed: From which all chance follows; nil takes the world's ``WorldDescription/seed``, or else 1.
    /// - Throws: ``DescriptionError`` naming path and rule.
    public convenience init(
        world: WorldDescription, configuration: EmulatorConfiguration? = nil, time: EmulatorTime = .real,
        seed: UInt64? = nil
    ) throws {
        try world.validate()
        self.init(verified: world, configuration: configuration, time: time, seed: seed)
    }

    /// The world of a file of JSON.
    ///
    /// - Parameters:
    ///   - worldFile: The path of the file.
    ///   - configuration: Delays, sizes and chances; nil takes the file's preset, or else
    ///     ``EmulatorConfiguration/default``.
    ///   - time: Real, scaled or virtual.
    ///   - seed: From which all chance follows; nil takes the file's seed, or else 1.
    /// - Throws: ``DescriptionError`` naming file, path and rule.
    public convenience init(
        worldFile: String, configuration: EmulatorConfiguration? = nil, time: EmulatorTime = .real,
        seed: UInt64? = nil
    ) throws {
        self.init(
            verified: try WorldDescription(contentsOfFile: worldFile), configuration: configuration, time: time,
            seed: seed)
    }

    /// A world whose description was checked.
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
            if let index = world.host(host.name) { world.preserveApps(of: host, on: index) }
        }
        world.schedule(description.script, devices, refs)
        self.init(living: world, time: time)
    }

    /// An emulator of an existing world.
    init(living world: World, time: EmulatorTime) {
        self.time = time
        seed = world.random.seed
        origin = world.timeline.origin
        core = Lock(EmulatorCore(world: world, lastDelivery))
        // Set once for the process; logs what it cannot observe.
        if time == .virtual { _ = JobHooks.coverage }
    }

    // MARK: Time

    /// The time since the world began.
    public var now: Duration {
        .nanoseconds(time == .virtual ? core.withLock { $0.world.now } : realNow)
    }

    /// The time of the event that is being delivered, without the lock.
    var deliveryTime: Duration { time == .virtual ? lastDelivery.value : .nanoseconds(realNow) }

    /// The time since the world began, in real or scaled time.
    private var realNow: Nanoseconds {
        let elapsed = Nanoseconds(DispatchTime.now().uptimeNanoseconds - start)
        guard case .scaled(let factor) = time else { return elapsed }
        return Nanoseconds(min(9e18, Double(elapsed) * factor))
    }

    /// This world's time as managers see it.
    public var clock: any BackendClock { EmulatorBackendClock(emulator: self) }

    /// This world's time as a Swift clock, for app code and for handlers.
    public var swiftClock: EmulatorClock { EmulatorClock(emulator: self) }

    // MARK: Inputs

    func submit(_ input: WorldInput) {
        perform { $0.world.submit(input) }
    }

    /// Changes the core and, in real time, does what is due.
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
        let (result, sideEffects) = core.withLock { core -> (Result, [EmulatorCore.SideEffect]) in
            var sideEffects = core.run(until: present)
            let result = body(&core)
            sideEffects += core.run(until: present)
            arm(&core)
            return (result, sideEffects)
        }
        for sideEffect in sideEffects { queue.async { sideEffect(self) } }
        return result
    }

    /// The grid of the real timer, in nanoseconds: a thousand devices send ten thousand packets in a second, and a timer
    /// for each would cost more than all that they cause.
    private static let timerGrid = 1_000_000.0

    /// Sets the real timer for the next event that is due, or up to a millisecond later, with others.
    private func arm(_ core: inout EmulatorCore) {
        guard let factor = time.factor, let due = core.world.queue.nextDue else { return }
        // The real time since the world began; times that no one lives to see are as good as never.
        let elapsed = min(1e17, (Double(due) / factor / Self.timerGrid).rounded(.up) * Self.timerGrid)
        let slot = UInt64(max(0, elapsed))
        guard core.armed.map({ slot < $0 }) ?? true else { return }
        core.armed = slot
        queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: start + slot)) { [weak self] in
            guard let self else { return }
            self.perform { core in
                if core.armed == slot { core.armed = nil }
            }
        }
    }

    /// Returns when the world has handled what is due on another thread: all events of that instant were delivered.
    package func synchronize() { core.withLock { _ in } }

    // MARK: Settings

    /// The settings of this world.
    public var configuration: EmulatorConfiguration { core.withLock { $0.world.configuration } }

    /// Changes the settings of the living world, in line with all other controls.
    ///
    /// Delays and chances apply to what begins from then on. What a link agreed when it came up (interval, MTU, supervision
    /// timeout, packets and write credits) stays for that link. ``EmulatorConfiguration/traceLimit`` stays where it is nil.
    public func configure(_ configuration: EmulatorConfiguration) { submit(.configure(configuration)) }

    // MARK: The trace

    /// The commands and events of all managers, the controls, and notes on what no event reports, oldest first.
    ///
    /// Limited by ``EmulatorConfiguration/traceLimit``.
    public var trace: [TraceEntry] {
        core.withLock { $0.world.trace }.entries
    }
}

extension Emulator {
    /// Puts a device on the air.
    ///
    /// - Throws: ``DescriptionError`` when its address is taken.
    @discardableResult
    public func add(_ peripheral: EmulatedPeripheral) throws -> EmulatedDevice {
        let added = perform { core in
            Result { try core.world.addDevice(peripheral) }
        }
        return EmulatedDevice(emulator: self, ref: try added.get())
    }

    /// Puts a device on the air that serves what its description holds.
    ///
    /// - Throws: ``DescriptionError`` naming the impossible field and the rule.
    @discardableResult
    public func add(_ description: PeripheralDescription) throws -> EmulatedDevice {
        try add(EmulatedPeripheral(description))
    }

    /// All described devices, in the order in which they were added.
    ///
    /// The services of peripheral managers are those of ``EmulatedHost/peripheral``.
    public var devices: [EmulatedDevice] {
        core.withLock { core in core.world.devices.refs.filter { core.world.devices[$0]?.host == nil } }.map {
            EmulatedDevice(emulator: self, ref: $0)
        }
    }

    /// The described device of that name, the first one in the order of ``devices``; nil if there is none.
    ///
    /// - Parameter name: The name of its description, which need not be the one that it advertises.
    public func device(named name: String) -> EmulatedDevice? { devices.first { $0.name == name } }

    /// The device of that number, described or not; nil if there is none.
    public func device(number: UInt32) -> EmulatedDevice? {
        core.withLock { core in core.world.devices.refs.first { $0.serial == number } }.map {
            EmulatedDevice(emulator: self, ref: $0)
        }
    }

    /// How many advertising packets were sent so far; packets that no host listens to are not sent.
    public var advertisingPackets: Int {
        Int(core.withLock { $0.world.air.packets })
    }
}

/// The kind of time of an emulator.
public enum EmulatorTime: Hashable, Sendable {
    /// The machine's time.
    case real
    /// The machine's time, so many times faster; more than 0.
    case scaled(by: Double)
    /// Time that advances only when it is driven: ``Emulator/advance(by:)``, ``Emulator/advance(until:within:)``,
    /// ``Emulator/runUntilIdle(within:)`` and their synchronous twins.
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
