public import BluetoothEmulator
public import Testing

extension Trait where Self == EmulatorTrait {
    /// Runs each test under many radio histories, and reports the simplest one that makes it fail.
    ///
    /// The first run has no incidents; the others have some, half of them at the moments of the first run at which the
    /// app's requests, their answers and notifications pass. Each run has a separate emulator, in virtual time. A run
    /// fails as a test with `.emulator(…)` does: by issues, errors, violations of rules, leaks, commands without an
    /// answer, and standstill. The search ends with the first history that fails, which is then made as simple as
    /// possible and run again, so that its issues are the test's.
    ///
    /// - Parameters:
    ///   - histories: The number or the time of the histories, and what may go wrong: `.histories(1000)`.
    ///   - configuration: Delays, sizes and probabilities; nil takes the preset of the world, or `.default`, in which
    ///     packets take time.
    ///   - seed: The seed of the search; nil takes the number in the environment's `COREBLUETOOTH_SEED`, or the seed of
    ///     the world, or 1.
    ///   - world: The initial devices and hosts; by default only the host "default".
    ///   - allowed: The leftovers that do not fail a run.
    public static func emulator(
        _ histories: RadioHistories, configuration: EmulatorConfiguration? = nil, seed: UInt64? = nil,
        world: WorldDescription = WorldDescription(), allowing allowed: EmulatorTrait.Leftovers = []
    ) -> EmulatorTrait {
        EmulatorTrait(
            configuration: configuration ?? world.preset?.configuration ?? .default,
            seed: seed ?? Seed.ofEnvironment ?? world.seed ?? 1, world: world, allowed: allowed, histories: histories)
    }
}

extension EmulatorTrait {
    /// Runs a test under histories.
    func perform(
        _ function: @Sendable () async throws -> Void, under histories: RadioHistories, as test: Test,
        _ testCase: Test.Case?
    ) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await HistoryTest(
                world: world, configuration: configuration, seed: seed, name: test.name, isOfXCTest: false,
                process: test.isParameterized ? nil : HistoryProcess(test: test.id),
                runSilently: { await $0.failures(of: function, allowing: allowed, isSilent: true) },
                runReporting: { try await perform(function, in: $0, as: test, testCase) },
                fail: { Issue.record("\($0)", sourceLocation: test.sourceLocation) }
            ).run(under: histories)
        }
    }
}

extension Issue {
    /// Whether the issue fails its test: neither a known one nor a warning.
    var failsTest: Bool {
        #if compiler(>=6.3)
        isFailure
        #else
        !isKnown
        #endif
    }
}
