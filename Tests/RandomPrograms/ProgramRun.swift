public import BluetoothBackend
public import BluetoothEmulator
import CoreBluetooth
import Foundation

/// Runs one program in a world of its own, in virtual time.
public final class ProgramRun: @unchecked Sendable {
    // Invariant: used by one task, one step after the other; apps' state is touched when the driver has settled.

    /// What came of it.
    public struct Result: Sendable {
        /// Rules that were broken, in plain words.
        public var violations: [String]
        /// How many callbacks there were.
        public var callbacks: Int
        /// What happened in the world, line by line.
        public var trace: [String]
    }

    private let program: Program
    private let wrap: @Sendable (Emulator) throws -> any BluetoothBackend
    private var emulator: Emulator?
    private var devices: [EmulatedDevice] = []
    private var centrals: [ProgramCentral] = []
    private var server: ProgramServer?
    private var violations: [String] = []
    private var callbacks = 0

    /// Prepares a run.
    ///
    /// - Parameter wrap: The backend of the managers: the emulator itself, or a wrapper around it.
    public init(_ program: Program, around wrap: @escaping @Sendable (Emulator) throws -> any BluetoothBackend = { $0 })
    {
        self.program = program
        self.wrap = wrap
    }

    /// Runs the program and all checks.
    ///
    /// - Throws: What the driver of virtual time throws.
    public func run() async throws -> Result {
        let trace = try await runSteps()
        checkLeaks()
        return Result(violations: violations, callbacks: callbacks, trace: trace)
    }

    private func runSteps() async throws -> [String] {
        var settings = ProgramWorld.configurations[program.configuration % ProgramWorld.configurations.count]
        settings.traceLimit = 10_000
        let emulator = Emulator(configuration: settings, time: .virtual, seed: program.seed)
        self.emulator = emulator
        for index in 0..<2 {
            let device = try emulator.add(ProgramWorld.device(index))
            emulator.host.remember(device)
            devices.append(device)
        }
        try within {
            self.centrals = (0..<2).map(ProgramCentral.init); self.server = ProgramServer()
        }
        try within {
            self.centrals.forEach { $0.begin() }; self.server?.begin()
        }
        try await emulator.advance(by: .seconds(1))
        for step in program.steps { try await perform(step, emulator) }
        try await end(emulator)
        return emulator.trace.map(\.description)
    }

    /// Makes managers in this run's world.
    private func within(_ body: () -> Void) throws {
        guard let emulator else { return }
        CBManager.withBackend(.custom(try wrap(emulator)), body)
    }

    // MARK: Steps

    private func perform(_ step: ProgramStep, _ emulator: Emulator) async throws {
        switch step {
        case .wait(let milliseconds): return try await emulator.advance(by: .milliseconds(milliseconds))
        case .power(let isOn): emulator.host.setPower(isOn)
        case .reset: emulator.host.reset()
        case .authorize(let isAllowed): emulator.host.setAuthorization(isAllowed ? .allowed : .denied)
        case .plug(let isIn): emulator.host.setPlugged(isIn)
        case .remake(let index): try await remake(index, emulator)
        default:
            if !performAsServer(step), !performAsDevice(step) { performAsCentral(step) }
        }
        // What the step led to at this instant is handled before the next one.
        try await emulator.advance(by: .zero)
    }

    private func performAsServer(_ step: ProgramStep) -> Bool {
        guard let server else { return false }
        switch step {
        case .publish(let isOn): server.queue.sync { server.publish(isOn) }
        case .advertise(let isOn): server.queue.sync { server.advertise(isOn) }
        case .answer(let answer): server.queue.sync { server.answer = answer }
        case .answerHeld: server.queue.sync { server.answerHeld() }
        case .update(_, let count): server.queue.sync { server.update(count: count) }
        default: return false
        }
        return true
    }

    private func performAsDevice(_ step: ProgramStep) -> Bool {
        switch step {
        case .value(let device, let characteristic, let count):
            let path = CharacteristicPath(ProgramWorld.characteristics[characteristic])
            devices[device].notify(path, value: Data(repeating: 9, count: count))
        case .disconnect(let device): devices[device].disconnect()
        case .crash(let device): devices[device].reset()
        case .range(let device, let isNear): devices[device].setProximity(isNear ? .near : .outOfRange)
        case .onAir(let device, let isOn): devices[device].setAdvertising(isOn)
        case .hold(let device, let isHeld): devices[device].holdReads(of: "AA00", isHeld)
        case .addService(let device): addService(to: devices[device])
        case .removeService(let device): devices[device].removeService(ProgramWorld.passingService)
        case .rename(let device): devices[device].rename("Renamed")
        default: return false
        }
        return true
    }

    private func addService(to device: EmulatedDevice) {
        do {
            try device.addService(ProgramWorld.passing)
        } catch {
            violations.append("a service could not be added: \(error)")
        }
    }

    private func performAsCentral(_ step: ProgramStep) {
        switch step {
        case .scan(let manager, let duplicates):
            let options = [CBCentralManagerScanOptionAllowDuplicatesKey: duplicates]
            onQueue(manager) { central in
                guard central.manager?.state == .poweredOn else { return }
                central.manager?.scanForPeripherals(withServices: nil, options: options)
            }
        case .stopScan(let manager): onQueue(manager) { $0.manager?.stopScan() }
        case .connect(let manager, let device): onQueue(manager) { self.connect($0, device) }
        case .cancel(let manager, let device):
            peripheral(manager, device) { central, peripheral in
                central.manager?.cancelPeripheralConnection(peripheral)
            }
        case .forget(let manager, let device):
            onQueue(manager) { central in self.identifier(device).map { central.forget($0) } }
        default: performOperation(step)
        }
    }

    private func performOperation(_ step: ProgramStep) {
        switch step {
        case .services(let manager, let device):
            peripheral(manager, device) { central, peripheral in
                central.ask(peripheral, .services)
                peripheral.discoverServices(nil)
            }
        case .characteristics(let manager, let device):
            peripheral(manager, device) { central, peripheral in
                for service in peripheral.services ?? [] {
                    central.ask(peripheral, .characteristics(service.uuid.uuidString))
                    peripheral.discoverCharacteristics(nil, for: service)
                }
            }
        case .rssi(let manager, let device):
            peripheral(manager, device) { central, peripheral in
                central.ask(peripheral, .rssi)
                peripheral.readRSSI()
            }
        case .descriptors(let manager, let device, let index):
            characteristic(manager, device, index) { central, peripheral, found in
                central.ask(peripheral, .descriptors(found.uuid.uuidString))
                peripheral.discoverDescriptors(for: found)
            }
        case .read(let manager, let device, let index):
            // Those that notify are not read, so that their values can be told apart.
            guard index != 2, index != 3 else { return }
            characteristic(manager, device, index) { central, peripheral, found in
                central.ask(peripheral, .read(found.uuid.uuidString))
                peripheral.readValue(for: found)
            }
        case .write(let manager, let device, let index, let count):
            characteristic(manager, device, index) { central, peripheral, found in
                central.ask(peripheral, .write(found.uuid.uuidString))
                peripheral.writeValue(Data(repeating: 5, count: count), for: found, type: .withResponse)
            }
        case .command(let manager, let device, let index, let count):
            characteristic(manager, device, index) { _, peripheral, found in
                peripheral.writeValue(Data(repeating: 6, count: count), for: found, type: .withoutResponse)
            }
        case .subscribe(let manager, let device, let index, let isOn):
            characteristic(manager, device, index) { central, peripheral, found in
                central.ask(peripheral, .notify(found.uuid.uuidString))
                peripheral.setNotifyValue(isOn, for: found)
            }
        default: violations.append("no way to perform \(step)")
        }
    }

    // MARK: Objects

    private func onQueue(_ manager: Int, _ body: (ProgramCentral) -> Void) {
        let central = centrals[manager]
        central.queue.sync(flags: .barrier) { body(central) }
    }

    private func identifier(_ device: Int) -> UUID? {
        if device < 2 { return devices[device].identifier()?.uuid }
        return emulator?.hosts.lazy.compactMap(\.peripheral).first?.identifier()?.uuid
    }

    private func connect(_ central: ProgramCentral, _ device: Int) {
        guard let manager = central.manager, manager.state == .poweredOn, let identifier = identifier(device),
            let object = central.links[identifier]?.object
                ?? manager.retrievePeripherals(withIdentifiers: [identifier]).first
        else { return }
        object.delegate = central
        central.links[identifier, default: ProgramCentral.Link()].object = object
        central.links[identifier]?.isWanted = true
        manager.connect(object)
    }

    private func peripheral(_ manager: Int, _ device: Int, _ body: (ProgramCentral, CBPeripheral) -> Void) {
        onQueue(manager) { central in
            guard let identifier = identifier(device), let object = central.links[identifier]?.object else { return }
            body(central, object)
        }
    }

    private func characteristic(
        _ manager: Int, _ device: Int, _ index: Int,
        _ body: (ProgramCentral, CBPeripheral, CBCharacteristic) -> Void
    ) {
        peripheral(manager, device) { central, peripheral in
            let uuid = CBUUID(string: ProgramWorld.characteristics[index].text)
            let all = (peripheral.services ?? []).flatMap { $0.characteristics ?? [] }
            if let found = all.first(where: { $0.uuid == uuid }) { body(central, peripheral, found) }
        }
    }

    private func remake(_ index: Int, _ emulator: Emulator) async throws {
        collect(centrals[index])
        weak let old = centrals[index].manager
        onQueue(index) { central in
            central.links = [:]
            central.manager = nil
        }
        centrals[index] = ProgramCentral(number: index)
        try await emulator.advance(by: .zero)
        if old != nil { violations.append("central \(index): a released manager lives on") }
        try within { self.centrals[index].begin() }
    }

    // MARK: The end

    /// Makes all well, waits longer than any timeout, and looks at what is left.
    private func end(_ emulator: Emulator) async throws {
        emulator.host.setPlugged(true)
        emulator.host.setAuthorization(.allowed)
        emulator.host.setPower(true)
        for device in devices {
            device.setProximity(.near)
            device.holdReads(of: "AA00", false)
        }
        try await emulator.advance(by: .seconds(70))
        for central in centrals {
            central.queue.sync(flags: .barrier) { central.checkEnd() }
            collect(central)
        }
        guard let server else { return }
        server.queue.sync { server.checkEnd() }
        violations += server.violations
        callbacks += server.callbacks
    }

    private func collect(_ central: ProgramCentral) {
        violations += central.violations
        callbacks += central.callbacks
    }

    private func checkLeaks() {
        weak let world = emulator
        weak let manager = server?.manager
        let managers = centrals.map { central in { [weak manager = central.manager] in manager } }
        let peripherals = centrals.flatMap { central in
            central.links.values.compactMap(\.object).map { object in { [weak object] in object } }
        }
        let queues = centrals.map(\.queue) + [server?.queue].compactMap { $0 }
        centrals = []
        server = nil
        devices = []
        emulator = nil
        for queue in queues { queue.sync(flags: .barrier) {} }
        if managers.contains(where: { $0() != nil }) { violations.append("a central manager lives on") }
        if peripherals.contains(where: { $0() != nil }) { violations.append("a peripheral lives on") }
        if manager != nil { violations.append("the peripheral manager lives on") }
        // A thread that was at work for the last drive may still be leaving it.
        for _ in 0..<100_000 where world != nil { sched_yield() }
        if world != nil { violations.append("the world lives on") }
    }
}
