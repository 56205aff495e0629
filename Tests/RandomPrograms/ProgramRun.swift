public import BluetoothBackend
public import BluetoothEmulator
import CoreBluetooth
import Foundation

/// Runs one program in its place.
public final class ProgramRun: @unchecked Sendable {
    // Invariant: used by one task, one step after the other; apps' state is touched on their queues.

    /// The outcome of a run.
    public struct Result: Sendable {
        /// The broken rules, as text.
        public var violations: [String]
        /// The number of callbacks.
        public var callbacks: Int
        /// The trace of the world, line by line.
        public var trace: [String]
    }

    private let program: Program
    var place: (any ProgramPlace)?
    var devices: [EmulatedDevice] = []
    var centrals: [ProgramCentral] = []
    var server: ProgramServer?
    var violations: [String] = []
    private var callbacks = 0

    /// Prepares a run in a place.
    public init(_ program: Program, in place: any ProgramPlace) {
        self.program = program
        self.place = place
    }

    /// Prepares a run on an emulator, in virtual time.
    ///
    /// - Parameter wrap: The backend of the managers: the emulator itself, or a wrapper around it.
    public convenience init(
        _ program: Program, around wrap: @escaping @Sendable (Emulator) throws -> any BluetoothBackend = { $0 }
    ) {
        self.init(program, in: VirtualProgramPlace(program, around: wrap))
    }

    /// Runs the program and all checks, once.
    ///
    /// - Throws: The errors of the place.
    public func run() async throws -> Result {
        let (trace, world) = try await runInPlace()
        // A thread that worked for the last drive may still be leaving it.
        for _ in 0..<100_000 {
            if world.areGone { break }
            sched_yield()
        }
        if !world.areGone { violations.append("the world lives on") }
        return Result(violations: violations, callbacks: callbacks, trace: trace)
    }

    /// - Returns: The trace, and the world if it should no longer exist.
    private func runInPlace() async throws -> (trace: [String], world: Remains) {
        guard let place else { return ([], Remains([])) }
        let trace = try await runSteps(place)
        try await checkLeaks(place)
        self.place = nil
        return (trace, Remains(place.endsWithItsProgram ? [place.emulator] : []))
    }

    private func runSteps(_ place: any ProgramPlace) async throws -> [String] {
        for index in 0..<2 { devices.append(try place.emulator.add(ProgramWorld.device(index))) }
        try await place.begin(devices)
        try within {
            self.centrals = (0..<2).map(ProgramCentral.init); self.server = ProgramServer()
        }
        try within {
            self.centrals.forEach { $0.begin() }; self.server?.begin()
        }
        try await place.pass(.seconds(1))
        for step in program.steps { try await perform(step, place) }
        try await end(place)
        return place.emulator.trace.map(\.description)
    }

    /// Creates managers in this run's world.
    private func within(_ body: () -> Void) throws {
        guard let place else { return }
        CBManager.withBackend(try place.selection(), body)
    }

    func remake(_ index: Int, _ place: any ProgramPlace) async throws {
        collect(centrals[index])
        let old = Remains([centrals[index].manager])
        onQueue(index) { central in
            central.links = [:]
            central.manager = nil
        }
        centrals[index] = ProgramCentral(number: index)
        try await place.rest(.zero) { old.areGone }
        if !old.areGone { violations.append("central \(index): a released manager lives on") }
        try within { self.centrals[index].begin() }
    }

    // MARK: The end

    /// Restores everything, waits longer than any timeout, and checks what is left.
    private func end(_ place: any ProgramPlace) async throws {
        let host = place.emulator.host
        host.setPlugged(true)
        host.setAuthorization(.allowed)
        host.setPower(true)
        for device in devices {
            device.setProximity(.near)
            device.holdReads(of: "AA00", false)
        }
        try await place.rest(.seconds(70)) { [centrals, server] in
            centrals.allSatisfy(\.isAtRest) && server?.isAtRest != false
        }
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
        central.queue.sync(flags: .barrier) {
            violations += central.violations
            callbacks += central.callbacks
        }
    }

    private func checkLeaks(_ place: any ProgramPlace) async throws {
        let managers = Remains(centrals.map { $0.manager })
        let peripherals = Remains(centrals.flatMap { $0.links.values.map { $0.object } })
        let serving = Remains([server?.manager])
        let queues = centrals.map(\.queue) + [server?.queue].compactMap { $0 }
        centrals = []
        server = nil
        devices = []
        for queue in queues { queue.sync(flags: .barrier) {} }
        try await place.rest(.zero) { managers.areGone && peripherals.areGone && serving.areGone }
        if !managers.areGone { violations.append("a central manager lives on") }
        if !peripherals.areGone { violations.append("a peripheral lives on") }
        if !serving.areGone { violations.append("the peripheral manager lives on") }
    }
}

/// Objects that should no longer exist.
private final class Remains: Sendable {
    private struct Reference: @unchecked Sendable {
        // Invariant: set once; a weak reference may be read on any thread.
        weak var object: AnyObject?
    }

    private let references: [Reference]

    init(_ objects: [AnyObject?]) { references = objects.map(Reference.init) }

    var areGone: Bool { references.allSatisfy { $0.object == nil } }
}
