import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import CoreBluetooth
import Testing

/// The contract's peers in virtual time, with a plan of faults and a trace on either side of it, and a manager.
struct FaultyWorld {
    let emulator: Emulator
    let faults: FaultInjectingBackend
    /// The trace between the manager and the faults.
    let outside: BackendTrace
    /// The trace between the faults and the emulator.
    let inside: BackendTrace
    let context: ContractContext

    init(seed: UInt64 = 1, _ plan: Fault...) throws {
        var created: (faults: FaultInjectingBackend, outside: BackendTrace, inside: BackendTrace)?
        let fixture = try EmulatorFixture(configuration: .instant, seed: 1) { emulator in
            let inner = TracingBackend(around: emulator, to: .memory)
            let faults = try FaultInjectingBackend(around: inner, plan: FaultPlan(seed: seed, faults: plan))
            let outer = TracingBackend(around: faults, to: .memory)
            created = (faults, outer.trace, inner.trace)
            return outer
        }
        guard let created else { throw ContractTimeout() }
        (faults, outside, inside) = created
        emulator = fixture.emulator
        context = ContractContext(ScenarioRun("wrappers", on: fixture))
    }

    var events: [ContractEvent] { context.trace.events }

    /// Returns the virtual time that passes until these events.
    func time(of events: ContractEvent...) async throws -> Duration {
        let start = emulator.now
        for event in events { try await context.expect(event) }
        return emulator.now - start
    }
}
