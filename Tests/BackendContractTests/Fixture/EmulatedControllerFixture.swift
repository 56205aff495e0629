#if BlueZ && os(Linux)
import BlueZ
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import BluetoothValues
import ChildProcesses
import CoreBluetooth
import EmulatedHCI
import ScriptedBlueZ
import Testing

/// A real `bluetoothd` and kernel, whose controller is a port of an emulated world; for root, in the guest.
///
/// Each scenario gets a new world and a new controller with an address of its own, so that the daemon has stored nothing.
final class EmulatedControllerFixture: ContractFixture {
    /// The features; nothing restores an app here.
    static let features = Set(ContractFeature.allCases).subtracting([.restoration])

    private static let environment = ProcessInfo.processInfo.environment

    /// The port of the controller in `CONTRACT_CONTROLLER`: `vhci` or `usb`; nil if other stages run.
    static let port = environment["CONTRACT_CONTROLLER"]

    let name = "bluez " + (environment["CONTRACT_BLUEZ_VERSION"] ?? "unknown")
    let backend = CBBackendSelection.bluez(BlueZConfiguration(acceptsJustWorksPairing: true))
    let world: ContractWorld
    private let controller: HCIPort
    private let host: EmulatedHost
    private let time = RealWorldTime()
    private let program: DBusConnection

    private static let adapterPath = ObjectPath.root.appending("org").appending("bluez").appending("hci0")
    private static let numbers = Lock<UInt64>(0)

    /// Plugs the controller in, and returns when the daemon has switched it on.
    init() async throws {
        let emulator = Emulator(configuration: .instant, time: .real, seed: 1)
        world = try ContractWorld(emulator, time, .stack)
        let number = Self.numbers.withLock { number in
            number += 1
            return number
        }
        // An earlier process may have left its bonds to the daemon.
        let bits = 0x0002_5B00_0000 + (UInt64(getpid()) & 0xFFFF) << 8 + number & 0xFF
        host = try emulator.add(HostDescription(name: "Controller", address: DeviceAddress(bits: bits)))
        program = try await DBusConnection.open(at: .system)
        let address = try #require(Self.port.flatMap { HCIPortAddress($0) }, "CONTRACT_CONTROLLER is vhci or usb")
        controller = try HCIPort.open(emulator, host: host.name, on: address)
        try await waitUntilPowered()
    }

    /// Unplugs the controller, and returns when the daemon has removed its adapter.
    ///
    /// The adapter is switched off before, which ends its links: Linux 6.1 crashes if a controller with the link of an
    /// open socket is unplugged (`hci_chan_del`).
    func end() async throws {
        if try await adapter("Powered") == .boolean(true) {
            do { try await switchAdapter(false) } catch {
                // bluetoothd 5.66 may die then, if an answer came after an earlier loss of power.
                guard try await !program.hasDaemon() else { throw error }
            }
        }
        controller.close()
        try await wait { try await self.adapter("Address") == nil }
    }

    /// Unplugs the controller, and returns when the daemon has removed its adapter.
    func unplug() async throws {
        host.setPlugged(false)
        try await wait { try await self.adapter("Address") == nil }
    }

    /// Plugs the controller in again; ``waitUntilPowered()`` waits for its adapter.
    func plugIn() { host.setPlugged(true) }

    func begin() async throws {}

    func wait(for trace: ContractTrace, until condition: @escaping @Sendable () -> Bool) async throws {
        try await advance(until: condition)
    }

    /// Waits for a condition, while bytes of the centrals' channels move.
    private func advance(until condition: @escaping @Sendable () -> Bool) async throws {
        try await time.advance(until: { [world] in
            world.centrals.pump()
            return condition()
        })
    }

    func lines(of central: ContractCentral, atLeast count: Int) async throws -> [String] {
        guard count > 0 else { return world.centrals.known(central)?.lines ?? [] }
        let central = try world.centrals.central(central)
        try await advance(until: { central.lines.count >= count })
        return central.lines
    }

    @discardableResult
    func perform(_ action: CentralAction, by central: ContractCentral) async throws -> PeerReply {
        try await world.centrals.central(central).perform(action)
    }

    @discardableResult
    func perform(_ action: PeerAction) async throws -> PeerReply {
        switch action {
        case .adapter(let isPowered): try await switchAdapter(isPowered)
        case .daemon(let isRunning):
            try await Self.control(isRunning ? "start" : "stop")
            if isRunning { try await waitUntilPowered() }
        case .otherApp(let isConnected): try await program.connectToContractPeer(isConnected)
        default: return try await world.perform(action)
        }
        return PeerReply()
    }

    // MARK: The machine

    /// Returns when the adapter of this fixture's controller is on, and lets the kernel advertise as often as other devices.
    ///
    /// Starts the daemon if it has died.
    func waitUntilPowered() async throws {
        let address = DBusValue.string(host.address.description)
        // The first adapter of a machine may take more than 20 s if the machine is busy.
        try await wait(for: .seconds(60)) {
            try await self.startDaemonIfItDied()
            guard try await self.adapter("Address") == address, let isOn = try await self.adapter("Powered") else {
                return false
            }
            if isOn == .boolean(false) { try await self.switchAdapter(true) }
            return isOn == .boolean(true)
        }
        // BlueZ before 5.77 leaves the interval to the kernel: 1.28 s. In units of 0.625 ms.
        for bound in ["min", "max"] {
            try "160\n".write(
                toFile: "/sys/kernel/debug/bluetooth/hci0/adv_\(bound)_interval", atomically: false, encoding: .utf8)
        }
    }

    /// Waits until no program scans, and switches the adapter off and on if the kernel's discovery is stuck.
    ///
    /// A suspend that interrupts the end of a discovery leaves Linux 6.12 without discoveries and new connections until the
    /// adapter is switched off, and `bluetoothd` believes that the old discovery goes on.
    ///
    /// - Returns: Whether it was stuck.
    func endStuckDiscovery() async throws -> Bool {
        do {
            try await wait(for: .seconds(5)) { try await self.adapter("Discovering") != .boolean(true) }
            return false
        } catch {
            guard error is ContractTimeout else { throw error }
            print("contract: the kernel's discovery is stuck, so the adapter is switched off and on")
            try await switchAdapter(false)
            try await waitUntilPowered()
            return true
        }
    }

    /// Switches the adapter on or off, as another program; the daemon is busy while it does so itself.
    private func switchAdapter(_ isOn: Bool) async throws {
        try await wait {
            do throws(DBusError) {
                _ = try await self.program.call(
                    to: "org.bluez", path: Self.adapterPath, interface: "org.freedesktop.DBus.Properties",
                    member: "Set", [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.boolean(isOn))])
                return true
            } catch {
                guard error.name == "org.bluez.Error.Busy" else { throw error }
                return false
            }
        }
    }

    /// Returns a property of the adapter; nil if there is no adapter or no daemon.
    private func adapter(_ property: String) async throws -> DBusValue? {
        do throws(DBusError) {
            let reply = try await program.call(
                to: "org.bluez", path: Self.adapterPath, interface: "org.freedesktop.DBus.Properties", member: "Get",
                [.string("org.bluez.Adapter1"), .string(property)])
            guard case .variant(let value)? = reply.first else { return nil }
            return value
        } catch {
            guard Self.isOfAbsence(error) else { throw error }
            return nil
        }
    }

    /// Whether the adapter or the daemon is gone; the bus may try in vain to start the daemon.
    private static func isOfAbsence(_ error: DBusError) -> Bool {
        namesOfAbsence.contains(error.name) || error.name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
    }

    /// The errors of a call to an adapter that is gone, or to a daemon that is, or ends meanwhile.
    private static let namesOfAbsence: Set = [
        DBusError.Name.unknownObject, DBusError.Name.unknownMethod, DBusError.Name.unknownInterface,
        DBusError.Name.serviceUnknown, DBusError.Name.nameHasNoOwner, DBusError.Name.noReply,
    ]

    private func wait(
        for limit: Duration = .seconds(20), until condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        while try await !condition() {
            guard ContinuousClock.now < end else { throw ContractTimeout() }
            try await time.advance(by: .milliseconds(20))
        }
    }

    /// Starts the daemon again that a scenario or a fault has killed, and reports it.
    private func startDaemonIfItDied() async throws {
        guard try await !program.hasDaemon() else { return }
        print("contract: bluetoothd had died, and was started again")
        try await Self.control("start")
    }

    /// Starts or stops the daemon with the program that `BLUEZ_DAEMON_CONTROL` names.
    private static func control(_ action: String) async throws {
        let program = try #require(environment["BLUEZ_DAEMON_CONTROL"], "BLUEZ_DAEMON_CONTROL is not set")
        let outcome = try await ChildProcess.run(program, [action])
        #expect(outcome.status == 0)
    }
}
#endif
