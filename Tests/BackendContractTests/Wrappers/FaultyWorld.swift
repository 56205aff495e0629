import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import CoreBluetooth
import Testing

/// The contract peers in virtual time, with a plan of faults and a trace on either side of it, and a manager.
struct FaultyWorld {
    let emulator: Emulator
    let faults: FaultInjectingBackend
    /// What the manager sees.
    let outside: BackendTrace
    /// What the radio sees.
    let inside: BackendTrace
    let context: ContractContext

    init(seed: UInt64 = 1, _ plan: Fault...) throws {
        var made: (faults: FaultInjectingBackend, outside: BackendTrace, inside: BackendTrace)?
        let fixture = try EmulatorFixture(configuration: .instant, seed: 1) { emulator in
            let inner = TracingBackend(around: emulator, to: .memory)
            let faults = try FaultInjectingBackend(around: inner, plan: FaultPlan(seed: seed, faults: plan))
            let outer = TracingBackend(around: faults, to: .memory)
            made = (faults, outer.trace, inner.trace)
            return outer
        }
        guard let made else { throw ContractTimeout() }
        (faults, outside, inside) = made
        emulator = fixture.emulator
        context = ContractContext(fixture, scenario: "wrappers", differences: [:])
    }

    var lines: [String] { context.trace.lines }

    /// How long the callbacks took to come, in the world's time.
    func time(of lines: String...) async throws -> Duration {
        let start = emulator.now
        for line in lines { try await context.expect(line) }
        return emulator.now - start
    }
}
