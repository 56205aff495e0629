#if BlueZ && os(Linux)
import BluetoothEmulator
import CoreBluetooth
import ScriptedBlueZ
import Testing

/// Losses of the adapter in the middle of an app's operations, on a real kernel and a real `bluetoothd` whose adapter is
/// emulated.
///
/// `make faults-dongle` runs them, `CYCLES` times each; `CONTRACT_FAULT=suspend` selects one fault, and `CONTRACT_STEP=2`
/// one step.
@Suite(
    .serialized,
    .enabled(if: EmulatedControllerFixture.port != nil && FaultRun.isWanted, "needs a guest: make faults-dongle"))
struct AdapterFaultTests {
    private let fixture: EmulatedControllerFixture
    private let run: ScenarioRun

    init() async throws {
        fixture = try await EmulatedControllerFixture()
        run = ScenarioRun("adapter fault", on: fixture)
    }

    /// Returns the steps that the environment selects: all, or one.
    private static func selected(of steps: Range<Int>) throws -> Range<Int> {
        guard let text = ProcessInfo.processInfo.environment["CONTRACT_STEP"] else { return steps }
        let step = try #require(Int(text), "CONTRACT_STEP is \(text), which is no number")
        try #require(steps.contains(step), "CONTRACT_STEP is \(step), which is not in \(steps)")
        return step..<step + 1
    }

    @Test func anAdapterThatIsLostAtAnyStepOfACentralComesBack() async throws {
        let app = ContractContext(run)
        try await repeated(steps: Conversation.points) { cycle, step, fault in
            try await app.powerOn()
            let value = Data([UInt8(truncatingIfNeeded: cycle)])
            try await Conversation(app, writing: value).go(through: step)
            let states = app.trace.states.count
            let (wasConnected, events) = (app.peripheral?.state == .connected, app.trace.events.count)
            try await fixture.lose(by: fault)
            if fault != .suspend {
                try await app.wait("the loss of the adapter") { [trace = app.trace] in trace.states.count > states }
            } else if wasConnected {
                try await waitForDisconnection(after: events, of: app)
            }
            try await fixture.repair(fault)
            try await app.powerOn()
            app.manager.stopScan()
            let known = app.trace.states.count
            if try await fixture.endStuckDiscovery() {
                try await app.wait("the loss of power") { [trace = app.trace] in trace.states.count > known }
                try await app.powerOn()
            }
            if let peripheral = app.peripheral, peripheral.state != .disconnected {
                // A pending connection outlives a suspend, as it does everywhere. Linux 6.12 may keep the link up without
                // reporting it if the app cancels the connection at the moment at which the controller reports it.
                try await app.wait("the pending connection") { [peripheral = Carried(peripheral)] in
                    peripheral.object.state == .connected
                }
                let events = app.trace.events.count
                app.manager.cancelPeripheralConnection(peripheral)
                try await waitForDisconnection(after: events, of: app)
            }
            app.skipAll()
            try await Conversation(app, writing: value).go()
            app.finish()
        }
        try await fixture.end()
    }

    private func waitForDisconnection(after count: Int, of app: ContractContext) async throws {
        try await app.wait("the end of the connection") { [trace = app.trace] in
            trace.events.dropFirst(count).contains { $0.subject == ContractEvent.didDisconnect().subject }
        }
    }

    @Test func anAdapterThatIsLostAtAnyStepOfAServerComesBack() async throws {
        let app = PeripheralContext(run)
        let steps: [(CBMutableService) async throws -> Void] = [
            { app.manager.add($0) },
            { _ in try await app.expect(.didAdd(.served)) },
            { _ in
                app.manager.startAdvertising([
                    CBAdvertisementDataLocalNameKey: "Served", CBAdvertisementDataServiceUUIDsKey: [CBUUID(.served)],
                ])
            },
            { _ in try await app.expect(.didStartAdvertising()) },
            { _ in try await app.one.connect() },
            { _ in try await app.one.perform(.read(.dynamic)) },
            { _ in try await app.answerRead(with: [1]) },
            { _ in try await app.one.expect(.read(.dynamic, [1])) },
            { _ in try await app.one.perform(.subscribe(.updating)) },
            { _ in
                try await app.expect(.didSubscribe(.updating, subscribers: 1))
                try await app.one.expect(.subscribed(.updating, true))
            },
            { try #expect(app.update($0.mutable(.updating), [1])) },
        ]
        try await repeated(steps: 1..<steps.count + 1) { cycle, count, fault in
            try await app.powerOn()
            let service = LocalServices.main()
            for step in steps.prefix(count) { try await step(service) }
            let states = app.trace.states.count
            let isConnected = count >= 5
            try await fixture.lose(by: fault)
            if fault != .suspend {
                try await app.wait("the loss of the adapter") { [trace = app.trace] in trace.states.count > states }
            }
            if isConnected { try await app.one.skipToDisconnection() }
            try await fixture.repair(fault)
            try await app.powerOn()
            app.manager.stopAdvertising()
            app.manager.removeAllServices()
            // The first manager may still get events of what was under way.
            let other = app.makeOther()
            _ = try await other.serve()
            try await other.roundTrip()
            try await other.one.disconnect()
            other.finish()
            app.skipAll()
            while app.trace.nextRequest() != nil {}
        }
        try await fixture.end()
    }

    /// Repeats a cycle, and checks that the process holds no more afterwards than after the first cycles.
    private func repeated(
        steps: Range<Int>, _ cycle: (Int, _ step: Int, AdapterFault) async throws -> Void
    ) async throws {
        let (selected, faults) = (try Self.selected(of: steps), try AdapterFault.selected())
        var before = try ProcessResources()
        for number in 0..<FaultRun.cycles {
            // The first cycles fill pools and caches.
            if number == steps.count { before = try ProcessResources() }
            // Each fault meets each step.
            let step = selected.lowerBound + number % selected.count
            let fault = faults[number / selected.count % faults.count]
            print("faults: cycle \(number), \(fault) at step \(step)")
            try await cycle(number, step, fault)
        }
        let after = try await ProcessResources.atRest(comparedWith: before)
        print("faults: \(FaultRun.cycles) cycles, from \(before) to \(after)")
        expectFlat(before, after)
    }
}

/// A loss of the adapter of this machine.
enum AdapterFault: String, CaseIterable {
    /// The controller is unplugged.
    case unplug
    /// rfkill blocks the adapter.
    case block
    /// The kernel prepares for suspend, freezes all programs, and resumes.
    case suspend

    /// Returns the faults that the environment selects: all, or one.
    static func selected() throws -> [AdapterFault] {
        guard let name = ProcessInfo.processInfo.environment["CONTRACT_FAULT"] else { return allCases }
        return [try #require(AdapterFault(rawValue: name), "CONTRACT_FAULT is \(name), which is none of \(allCases)")]
    }
}

extension EmulatedControllerFixture {
    /// Loses the adapter, until ``repair(_:)``; a suspend is over when this returns.
    func lose(by fault: AdapterFault) async throws {
        switch fault {
        case .unplug: try await unplug()
        case .block: try write("1", to: try rfkillPath())
        case .suspend:
            try write("1", to: "/sys/module/suspend/parameters/pm_test_delay")
            try write("freezer", to: "/sys/power/pm_test")
            try write("freeze", to: "/sys/power/state")
            try write("none", to: "/sys/power/pm_test")
        }
    }

    /// Returns when the adapter is back, and on.
    func repair(_ fault: AdapterFault) async throws {
        switch fault {
        case .unplug: plugIn()
        case .block: try write("0", to: try rfkillPath())
        case .suspend: break
        }
        try await waitUntilPowered()
    }

    /// The switch of rfkill for the adapter.
    private func rfkillPath() throws -> String {
        let adapter = "/sys/class/bluetooth/hci0"
        let switches = try FileManager.default.contentsOfDirectory(atPath: adapter).filter { $0.hasPrefix("rfkill") }
        return "\(adapter)/\(try #require(switches.first, "the adapter has no rfkill switch"))/soft"
    }

    private func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }
}
#endif
