import BluetoothEmulator
import BluetoothSupport
import BluetoothTracing
import CoreBluetoothClasses
import Foundation
import Testing
import TraceReports

/// One test's emulator, and the record of its managers' actions.
final class EmulatorSession: ManagerObserver {
    private struct WeakManager {
        weak var manager: (any ObservedManager)?
    }

    private struct State {
        var managers: [WeakManager] = []
        var callbacks = CallbackLog()
        var abandonedCommands: [String] = []
        /// The peripherals that the app released while it used them, and has not used since.
        var releasedPeripherals: [UUID] = []
        /// The first expectation that was not met.
        var failure: TestFailure?
        /// The rules that were violated, each with the first violation.
        var violations: [Violation] = []
        var isReported = false
    }

    /// A rule that did not hold after an event.
    struct Violation: Sendable {
        var message: String
        var location: SourceLocation
    }

    @TaskLocal static var current: EmulatorSession?

    let emulator: Emulator
    private let state = Lock(State())

    /// The test's name, for its report.
    private let name: String
    /// Whether failures are reported to XCTest rather than to Swift Testing.
    let isOfXCTest: Bool
    /// The history under which the test runs, for its report; nil without one.
    let history: HistoryReport?

    init(_ emulator: Emulator, named name: String, isOfXCTest: Bool = false, history: HistoryReport? = nil) {
        self.emulator = emulator
        self.name = name
        self.isOfXCTest = isOfXCTest
        self.history = history
    }

    // MARK: ManagerObserver

    func managerCreated(_ manager: any ObservedManager) {
        state.withLock { $0.managers.append(WeakManager(manager: manager)) }
    }

    func delivered(_ callback: DeliveredCallback) {
        state.withLock { state in
            state.callbacks.append(callback)
            if callback.hasDelegate { state.releasedPeripherals.removeAll { $0 == callback.identifier } }
        }
    }

    func peripheralReleased(_ identifier: UUID) {
        state.withLock { $0.releasedPeripherals.append(identifier) }
    }

    func commandsAbandoned(_ commands: [String]) {
        guard !commands.isEmpty else { return }
        state.withLock { $0.abandonedCommands += commands }
    }

    // MARK: Scopes

    /// Runs `body` so that the managers that it creates are in this world and observed by this session.
    func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        emulator.enterScope()
        defer { emulator.leaveScope() }
        return try await CBManager.withBackend(.emulator(emulator)) {
            try await Observation.$observer.withValue(self) {
                try await Self.$current.withValue(self, operation: body)
            }
        }
    }

    /// Runs `body` in the same way.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        emulator.enterScope()
        defer { emulator.leaveScope() }
        return try CBManager.withBackend(.emulator(emulator)) {
            try Observation.$observer.withValue(self) {
                try Self.$current.withValue(self) { try emulator.withTaskContext(body) }
            }
        }
    }

    /// Runs a test's body on the executor of this world, and reports the rules that it violated, and a standstill.
    ///
    /// - Parameter report: Receives a message, and the place of its rule, if it has one.
    /// - Returns: The result of the body; nil if the body waited for something that does not happen, and was cancelled.
    func runWatched(
        _ body: @Sendable () async throws -> Void, reporting report: (String, SourceLocation?) -> Void
    ) async -> Result<Void, any Error>? {
        let watch = StandstillWatch(emulator)
        watch.begin()
        async let end: Void = watch.watch {
            try await withTaskExecutorPreference(emulator.executor) { try await run(body) }
        }
        let outcome = await watch.outcome()
        for violation in violations { report(violation.message, violation.location) }
        if let failure = watch.failure { report(failure, nil) }
        if outcome == .stuck {
            watch.requireEnd()
            // Leaving the scope cancels the body.
            return nil
        }
        do {
            return .success(try await end)
        } catch {
            // A test that throws is not searched for leaks.
            emulator.dropDelayedBlocks()
            return .failure(error)
        }
    }

    // MARK: Expectations

    /// Whether the callbacks since the last expectation meet an expectation.
    func hasSeen(_ expectation: CallbackLog.Expectation) -> Bool {
        state.withLock { $0.callbacks.positions(of: expectation) != nil }
    }

    /// Passes the callbacks that meet an expectation, so that the next search begins after them.
    ///
    /// - Returns: The callbacks that met it, in its order.
    func pass(_ expectation: CallbackLog.Expectation) -> [ReceivedCallback] {
        state.withLock { $0.callbacks.pass(expectation) }
    }

    /// Returns the message for forbidden callbacks since the last expectation; nil without any.
    func message(forbidding forbidden: [DelegateCallback]) -> String? {
        let came = state.withLock { state in
            state.callbacks.pending.filter { callback in forbidden.contains { $0.matches(callback) } }
        }
        guard !came.isEmpty else { return nil }
        return "not expected, but came: \(came.map(\.summary).joined(separator: ", "))"
    }

    /// Records an expectation that was not met, for the page, and returns its message.
    ///
    /// - Parameters:
    ///   - begin: The time at which the test began to wait.
    ///   - location: The place in the test, for the page.
    func message(
        expecting expectation: CallbackLog.Expectation, _ error: any Error, since begin: Duration, at location: String
    ) -> String {
        let (came, released) = state.withLock { ($0.callbacks.pending.map(\.summary), $0.releasedPeripherals) }
        let releases = released.filter { expectation.concerns($0) }.map {
            "The app no longer retains the peripheral \($0); no delegate was left to call."
        }
        let trace = emulator.trace
        let cause =
            releases.isEmpty ? FailureCause(of: expectation, in: trace).sentence : releases.joined(separator: " ")
        let names = DeviceNames(in: trace)
        let failure = TestFailure(
            names.inserted(in: "\(expectation)"), at: location, from: begin, to: emulator.now,
            came: came.map(names.inserted), cause: cause.map(names.inserted))
        // The first one is the reason for the others.
        state.withLock { $0.failure = $0.failure ?? failure }
        let seen = came.isEmpty ? "nothing" : came.joined(separator: ", ")
        return "expected: \(expectation); came: \(seen). \(cause.map { $0 + " " } ?? "")\(error)"
    }

    // MARK: Rules

    /// Checks a rule now and after each event; its first violation fails the test when the test ends.
    func always(_ rule: String, at location: SourceLocation, _ condition: @escaping @Sendable () -> Bool) {
        let isViolated = Lock(false)
        let check: @Sendable () -> Void = { [weak self] in
            guard let self, !isViolated.withLock({ $0 }), !condition() else { return }
            isViolated.withLock { $0 = true }
            let (time, message) = (emulator.now, "violated at \(emulator.now): \(rule)")
            state.withLock { state in
                state.violations.append(Violation(message: message, location: location))
                state.failure =
                    state.failure ?? TestFailure(message, at: location.text, from: time, to: time)
            }
        }
        check()
        emulator.addCheck(check)
    }

    /// The rules that were violated, in the order of the violations.
    var violations: [Violation] { state.withLock { $0.violations } }

    // MARK: The end

    /// Returns the leaks of a test that has ended, once its tasks and managers have handled all pending work.
    ///
    /// A task or a queue that does not end is named, and no longer awaited.
    func leaks() async -> [Leak] {
        await withCheckedContinuation { continuation in
            findLeaks { continuation.resume(returning: $0) }
        }
    }

    /// Returns the leaks for callers that cannot await: the main thread serves its run loop meanwhile.
    func leaksSynchronously() -> [Leak] { SynchronousWait.value(of: findLeaks) }

    private func findLeaks(_ finish: @escaping @Sendable ([Leak]) -> Void) {
        emulator.afterTasks { [self] areQuiet in
            emulator.dropDelayedBlocks()
            let managers = state.withLock { $0.managers.compactMap(\.manager) }
            settle(managers[...], areQuiet ? [] : [.running]) { blocked in
                let abandonedCommands = self.state.withLock { $0.abandonedCommands }
                finish(blocked + Self.leaks(abandonedCommands, managers))
            }
        }
    }

    /// Waits for one manager after the other, for each as long as virtual time would.
    private func settle(
        _ managers: ArraySlice<any ObservedManager>, _ blocked: [Leak],
        _ finish: @escaping @Sendable ([Leak]) -> Void
    ) {
        guard let manager = managers.first else { return finish(blocked) }
        let goOn: @Sendable ([Leak]) -> Void = { [self] blocked in settle(managers.dropFirst(), blocked, finish) }
        // Cancelled at the end of the wait: a call to come would keep the world alive.
        let limit = SystemClock().call(after: emulator.settleTimeout) { goOn(blocked + [.blocked(manager.label)]) }
        manager.afterDelivery { if limit.claim() { goOn(blocked) } }
    }

    private static func leaks(_ abandonedCommands: [String], _ managers: [any ObservedManager]) -> [Leak] {
        (abandonedCommands + managers.flatMap(\.unansweredCommands)).map(Leak.unanswered)
            + managers.flatMap(\.livingObjects).map(Leak.leaked)
    }

    /// Returns the seed, the last lines of the trace that concern this test, and the place of its report, once: for the
    /// first message of a failure.
    ///
    /// - Parameters:
    ///   - message: The failure, for the page, unless an expectation was not met.
    ///   - location: The place in the test.
    func reproduction(of message: String, at location: String) -> String? {
        let (isFirst, unmet) = state.withLock { (!exchange(&$0.isReported, with: true), $0.failure) }
        guard isFirst else { return nil }
        let trace = emulator.trace
        let excerpt = TraceExcerpt(trace, limit: Self.traceLines)
        var failure = unmet ?? TestFailure(message, at: location, from: emulator.now, to: emulator.now)
        failure.history = history?.steps ?? []
        let report = FailureReport(failure, trace, of: name, seed: emulator.seed)
        if !isOfXCTest { report.attach() }
        let title = "seed \(emulator.seed); the last \(excerpt.lines.count) lines of the trace:"
        let lines = (history?.lines ?? []) + [title] + excerpt.lines + [report.write()]
        return lines.joined(separator: "\n")
    }

    private static let traceLines = 40
}

/// The names of the devices of a trace, which a page shows instead of their identifiers.
private struct DeviceNames {
    private let names: [(identifier: String, name: String)]

    init(in trace: [TraceEntry]) {
        let known = trace.deviceNames
        // Two devices of one name are told apart by their identifiers only.
        let unique = Dictionary(grouping: known.values) { $0 }.filter { $1.count == 1 }
        names = known.filter { unique[$1] != nil }.map { ($0.uuid.uuidString, $1) }
    }

    func inserted(in text: String) -> String {
        names.reduce(text) { $0.replacing($1.identifier, with: $1.name) }
    }
}
