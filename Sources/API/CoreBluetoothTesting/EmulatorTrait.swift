public import BluetoothEmulator
import BluetoothSupport
import CoreBluetoothClasses
public import Testing

/// A trait that gives each test a separate emulator, in virtual time.
///
/// Managers that the test's code creates without naming a backend are in that world, so code under test need not
/// change. The test fails on commands without an answer, and on managers and peripherals that outlive it; a failure
/// prints the seed and the trace of the devices that the test used. Created by `.emulator(…)`.
public struct EmulatorTrait: TestTrait, SuiteTrait, TestScoping {
    /// Things that a test may leave behind.
    public struct Leftovers: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Commands without an answer.
        public static let unansweredCommands = Leftovers(rawValue: 1)
        /// Managers and peripherals that are still referenced.
        public static let livingObjects = Leftovers(rawValue: 2)
    }

    let configuration: EmulatorConfiguration
    let seed: UInt64
    let world: WorldDescription
    let allowed: Leftovers
    /// The histories under which the test runs; nil for a run without incidents.
    var histories: RadioHistories?

    /// True, so that a suite applies the trait to its tests.
    public var isRecursive: Bool { true }

    /// Runs one test, or one of its cases, with a separate emulator; under histories, with one for each.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard !test.isSuite else { return try await function() }
        // A child process runs one test.
        if let child = HistoryProcess.Child.current, child.test != "\(test.id)" { return }
        if let histories { return try await perform(function, under: histories, as: test, testCase) }
        let session = EmulatorSession(
            try Emulator(world: world, configuration: configuration, time: .virtual, seed: seed), named: test.name)
        try await perform(function, in: session, as: test, testCase)
    }

    /// Performs a run whose issues are reported, with what reproduces them.
    ///
    /// - Returns: Whether an issue fails the test.
    @discardableResult
    func perform(
        _ function: @Sendable () async throws -> Void, in session: EmulatorSession, as test: Test,
        _ testCase: Test.Case?
    ) async throws -> Bool {
        let hasFailed = Lock(false)
        let reporting = IssueHandlingTrait.compactMapIssues { issue in
            if issue.failsTest { hasFailed.withLock { $0 = true } }
            let location = (issue.sourceLocation ?? test.sourceLocation).text
            guard let reproduction = session.reproduction(of: issue.description, at: location) else { return issue }
            var issue = issue
            issue.comments.append("\(reproduction)")
            return issue
        }
        try await reporting.provideScope(for: test, testCase: testCase) {
            let end = await session.runWatched(function) { message, location in
                Issue.record("\(message)", sourceLocation: location ?? test.sourceLocation)
            }
            guard let end else { return }
            try end.get()
            for leftover in await session.leaks() where !leftover.isAllowed(by: allowed) {
                Issue.record("\(leftover)", sourceLocation: test.sourceLocation)
            }
        }
        return hasFailed.withLock { $0 }
    }
}

extension Trait where Self == EmulatorTrait {
    /// Gives each test an emulator, in virtual time.
    ///
    /// - Parameters:
    ///   - configuration: Delays, sizes and probabilities; nil takes the preset of the world, or `.instant`.
    ///   - seed: The seed of all random choices; nil takes the number in the environment's `COREBLUETOOTH_SEED`, or the
    ///     seed of the world, or 1.
    ///   - world: The initial devices and hosts; by default only the host "default".
    ///   - allowed: The leftovers that do not fail the test.
    public static func emulator(
        _ configuration: EmulatorConfiguration? = nil, seed: UInt64? = nil,
        world: WorldDescription = WorldDescription(), allowing allowed: EmulatorTrait.Leftovers = []
    ) -> EmulatorTrait {
        EmulatorTrait(
            configuration: configuration ?? world.preset?.configuration ?? .instant,
            seed: seed ?? Seed.ofEnvironment ?? world.seed ?? 1, world: world, allowed: allowed)
    }
}
