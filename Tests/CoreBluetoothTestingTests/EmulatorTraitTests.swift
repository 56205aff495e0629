import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite(.emulator(.instant, seed: 7, world: .builtIn)) struct EmulatorTraitTests {
    @Test func appCodeThatNamesNoBackendIsInTheTestsWorld() async throws {
        let emulator = Emulator.current
        let app = HeartRateApp()
        await emulator.expect(.didUpdateState, .didDiscover, .didConnect.succeeding)
        await emulator.expect(.didDiscoverServices, .didDiscoverCharacteristics.of(CBUUID(string: "180D")))
        await emulator.expect(.didUpdateNotificationState.of(CBUUID(string: "2A37")), .didUpdateValue, .didUpdateValue)
        #expect(app.beats.count == 2)
        #expect(emulator.seed == 7)
        app.stop()
    }

    @Test(.emulator(.slow, seed: 9)) func theInnermostTraitCounts() {
        #expect(Emulator.current.seed == 9)
        #expect(Emulator.current.configuration == .slow)
        #expect(Emulator.current.devices.isEmpty)
    }

    @Test(arguments: 0..<200) func twoHundredTestsHaveTwoHundredWorlds(_ number: Int) async throws {
        let app = HeartRateApp()
        await Emulator.current.expect(.didUpdateValue, .didUpdateValue, .didUpdateValue, .didUpdateValue)
        #expect(app.beats.count == 4)
        #expect(Emulator.current.now < .seconds(6))
        app.stop()
    }

    @Test func theSameSeedGivesTheSameTrace() async throws {
        let test = try #require(Test.current)
        // The worlds below are separate; this test's world is paused meanwhile, however slow the machine is.
        let hold = Emulator.current.hold()
        defer { hold.release() }
        let traces = Traces()
        for seed in [5, 5, 6] as [UInt64] {
            try await EmulatorTrait.emulator(.default, seed: seed, world: .builtIn)
                .provideScope(for: test, testCase: nil) {
                    let app = HeartRateApp()
                    await Emulator.current.expect(.didUpdateValue)
                    traces.append(Emulator.current.trace.map(\.description))
                    app.stop()
                }
        }
        #expect(traces.all[0] == traces.all[1])
        #expect(traces.all[0] != traces.all[2])
    }
}

private final class Traces: @unchecked Sendable {
    // Invariant: used by one test, one step after the other.
    private(set) var all: [[String]] = []
    func append(_ trace: [String]) { all.append(trace) }
}
