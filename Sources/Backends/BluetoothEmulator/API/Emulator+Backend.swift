public import BluetoothBackend
import BluetoothSupport
import Logging

extension Emulator {
    /// The permission of the host "default".
    public func authorization() -> AuthorizationStatus {
        core.withLock { $0.world.lower.hosts.defaultAuthorization }
    }

    /// Whether the host "default" has a feature: true unless ``EmulatedHost/setSupport(_:_:)`` removed it.
    public func supports(_ feature: BackendFeature) -> Bool {
        core.withLock { core in
            core.world.lower.hosts.first { $0.identity.name == "default" }?.adapter.features.contains(feature) ?? false
        }
    }

    /// The value of ``EmulatorConfiguration/announcesSentBursts``.
    public var announcesSentBursts: Bool { configuration.announcesSentBursts }

    /// Makes the central role of the host "default", or of the host whose name or address the options give.
    ///
    /// If no host matches, the role has no adapter: the state is `.unsupported`, and a warning in the log lists the
    /// hosts.
    public func makeCentral(_ options: RoleOptions) -> any CentralBackend {
        EmulatorObservers.observe(self)
        warnIfMissing(options.adapter)
        let manager = perform { core in
            core.world.addManager(
                .central, host: core.world.lower.hosts.index(named: options.adapter ?? "default"),
                restoreIdentifier: options.restoreIdentifier, remembering: options.rememberedPeers)
        }
        noteTwoHosts()
        return EmulatedRole(self, manager, input: WorldInput.central, sink: RoleSink.central)
    }

    /// Makes the peripheral role of the host whose name or address the options give.
    ///
    /// The managers of one host are one device to other hosts. A manager that names no host gets its own, "peripheral
    /// 1" and so on, so that a test's central managers find its services; a line in the log reports this. A host that
    /// has lost its managers serves the next such manager. The GAP Device Name of such a host is the local name that
    /// its manager advertises. For managers of both roles that share one adapter, use ``EmulatedHost/backend`` of
    /// ``host``.
    public func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend {
        EmulatorObservers.observe(self)
        warnIfMissing(options.adapter)
        let manager = perform { core in
            let host =
                options.adapter.map { core.world.lower.hosts.index(named: $0) }
                ?? core.world.freeHost(options.restoreIdentifier)
            return core.world.addManager(
                .peripheral, host: host, restoreIdentifier: options.restoreIdentifier,
                remembering: options.rememberedPeers)
        }
        noteTwoHosts()
        return EmulatedRole(self, manager, input: WorldInput.peripheral, sink: RoleSink.peripheral)
    }

    /// Makes a pairing agent for the host "default" and for the hosts of peripheral managers that named no host.
    ///
    /// Without an active agent, and until the agent has given its capability, a host pairs without asking (Just Works).
    /// If several agents exist, the newest is asked, and all are notified.
    public func makePairing() -> any PairingBackend {
        makePairing(host: nil)
    }

    func makePairing(host: Int?) -> any PairingBackend {
        let manager = perform { $0.world.addManager(.pairing, host: host) }
        return EmulatedRole(self, manager, input: WorldInput.pairing, sink: RoleSink.pairing)
    }

    /// Whether the log already reports that the process has managers of both roles on two hosts.
    static let isTwoHostsNoted = Lock(false)

    /// Logs, once per process, that its managers of the two roles are two devices because it named no host.
    private func noteTwoHosts() {
        let name = core.withLock { core -> String? in
            let used = core.world.lower.hosts.filter { !$0.managers.isEmpty }
            guard used.contains(where: { $0.identity.name == "default" }) else { return nil }
            return used.first { $0.identity.isAnonymous }?.identity.name
        }
        guard let name else { return }
        let isNoted = Self.isTwoHostsNoted.withLock { exchange(&$0, with: true) }
        guard !isNoted else { return }
        Logger(label: "BluetoothEmulator").line(
            .notice,
            """
            a peripheral manager that names no host has one of its own, "\(name)", which this program's central managers \
            can find; with CBBackendSelection.emulator(host:) both share one adapter, as on a phone
            """)
    }

    /// Logs a warning if a manager names a host that this world does not have.
    private func warnIfMissing(_ adapter: String?) {
        guard let adapter else { return }
        let hosts = core.withLock { core in
            core.world.lower.hosts.index(named: adapter) == nil
                ? core.world.lower.hosts.map { "\"\($0.identity.name)\"" } : []
        }
        guard !hosts.isEmpty else { return }
        Logger(label: "BluetoothEmulator").line(
            .warning,
            """
            there is no emulated adapter "\(adapter)" among \(hosts.joined(separator: ", ")): leave the adapter out \
            (COREBLUETOOTH_ADAPTER, --adapter), or add a host of that name to the world
            """)
    }

    /// The emulator in place of the machine's adapter: managers that name no host share the host "default".
    ///
    /// As with one adapter, a central manager does not find the advertisements of the program's own peripheral
    /// managers.
    package var inPlaceOfAdapter: any BluetoothBackend { HostBackend(host: host, isDefault: true) }

    /// The emulator that managers of this task use if they name no backend.
    ///
    /// It is the emulator of `CBManager.withBackend`, of a test's trait `.emulator(…)`, of `EmulatorTestCase`, or of
    /// ``run(within:_:)``; nil outside all of these, or if another backend is chosen.
    ///
    /// The value is task-local: child tasks inherit it; detached tasks and blocks on dispatch queues do not.
    public static var selected: Emulator? {
        let backend = SelectedBackend.current
        return backend as? Emulator ?? (backend as? HostBackend)?.host.emulator
    }
}

/// One role of one manager, or a pairing agent, in an emulated world.
final class EmulatedRole<Command: Sendable, Event: Sendable>: RoleBackend {
    private let emulator: Emulator
    private let manager: Ref<Manager>
    private let input: @Sendable (Ref<Manager>, Command) -> WorldInput
    private let sink: @Sendable (any EventSink<Event>) -> RoleSink

    init(
        _ emulator: Emulator, _ manager: Ref<Manager>,
        input: @escaping @Sendable (Ref<Manager>, Command) -> WorldInput,
        sink: @escaping @Sendable (any EventSink<Event>) -> RoleSink
    ) {
        self.emulator = emulator
        self.manager = manager
        self.input = input
        self.sink = sink
    }

    func activate(_ sink: any EventSink<Event>) {
        let sink = self.sink(sink)
        emulator.perform { [manager] core in
            // A role may be activated on one thread while it is invalidated on another.
            guard core.world.lower.hosts.managers.contains(manager) else { return }
            core.attach(sink, to: manager)
            core.world.submit(.activate(manager))
        }
    }

    func submit(_ command: Command) { emulator.submit(input(manager, command)) }

    func invalidate() {
        let sink = emulator.perform { [manager] core in
            core.world.removeManager(manager)
            return core.detach(manager)
        }
        // Released outside the lock.
        withExtendedLifetime(sink) {}
    }
}

extension EmulatedRole: CentralBackend where Command == CentralCommand, Event == CentralEvent {
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        emulator.core.withLock { core in
            core.world.lower.hosts.host(of: manager).map { core.world.lower.hosts.knownPeers(ids, of: $0) } ?? []
        }
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        emulator.core.withLock { $0.world.connectedPeers(offering: services, of: manager) }
    }
}

extension EmulatedRole: PeripheralBackend where Command == PeripheralCommand, Event == PeripheralEvent {}

extension EmulatedRole: PairingBackend where Command == PairingCommand, Event == PairingEvent {}
