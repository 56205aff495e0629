import BluetoothEmulator
import BluetoothLocking
import CoreBluetoothPackage
import Dispatch
import Foundation
import Synchronization

/// One test's emulator, and what the managers of that test did.
final class EmulatorSession: ManagerObserver {
    private struct WeakManager {
        weak var manager: (any ObservedManager)?
    }

    private struct State {
        var managers: [WeakManager] = []
        var callbacks: [DeliveredCallback] = []
        /// How many callbacks were expected and have come.
        var cursor = 0
        var abandoned: [String] = []
        var isReported = false
    }

    /// The session of this task.
    @TaskLocal static var current: EmulatorSession?

    let emulator: Emulator
    private let state = Lock(State())

    /// Whether XCTest hears of failures, and not Swift Testing.
    let isOfXCTest: Bool

    init(_ emulator: Emulator, isOfXCTest: Bool = false) {
        self.emulator = emulator
        self.isOfXCTest = isOfXCTest
    }

    // MARK: ManagerObserver

    func made(_ manager: any ObservedManager) {
        state.withLock { $0.managers.append(WeakManager(manager: manager)) }
    }

    func delivered(_ callback: DeliveredCallback) {
        state.withLock { $0.callbacks.append(callback) }
    }

    func abandoned(_ commands: [String]) {
        guard !commands.isEmpty else { return }
        state.withLock { $0.abandoned += commands }
    }

    // MARK: Scopes

    /// Runs `body` so that the managers that it makes are in this world and seen by this session.
    func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await CBManager.withBackend(.emulator(emulator)) {
            try await Observation.$observer.withValue(self) {
                try await Self.$current.withValue(self, operation: body)
            }
        }
    }

    /// Runs `body` in the same way.
    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try CBManager.withBackend(.emulator(emulator)) {
            try Observation.$observer.withValue(self) {
                try Self.$current.withValue(self, operation: body)
            }
        }
    }

    // MARK: Expectations

    /// Whether these callbacks have come, in this order, after the last ones that were expected.
    ///
    /// Others may have come in between.
    func hasSeen(_ expected: [DelegateCallback]) -> Bool {
        state.withLock { Self.end(of: expected, in: $0.callbacks[$0.cursor...]) != nil }
    }

    /// Counts these callbacks as expected, so that later ones are looked for behind them.
    func consume(_ expected: [DelegateCallback]) {
        state.withLock { state in
            state.cursor = Self.end(of: expected, in: state.callbacks[state.cursor...]) ?? state.callbacks.count
        }
    }

    /// The message if one of these has come since the last expectation.
    func message(forbidding forbidden: [DelegateCallback]) -> String? {
        let came = state.withLock { state in
            state.callbacks[state.cursor...].filter { callback in forbidden.contains { $0.matches(callback) } }
        }
        guard !came.isEmpty else { return nil }
        return "not expected, but came: \(came.map(Self.text).joined(separator: ", "))"
    }

    /// The message of an expectation that was not met.
    func message(expecting expected: [DelegateCallback], _ error: any Error) -> String {
        let wanted = expected.map(\.description).joined(separator: ", ")
        let seen = state.withLock { $0.callbacks[$0.cursor...].map(Self.text) }.joined(separator: ", ")
        return "expected: \(wanted); came: \(seen.isEmpty ? "nothing" : seen). \(error)"
    }

    private static func end(of expected: [DelegateCallback], in callbacks: ArraySlice<DeliveredCallback>) -> Int? {
        var index = callbacks.startIndex
        for callback in expected {
            guard let match = callbacks[index...].firstIndex(where: callback.matches) else { return nil }
            index = match + 1
        }
        return index
    }

    private static func text(_ callback: DeliveredCallback) -> String {
        var text = callback.method.rawValue
        if !callback.attributes.isEmpty {
            text += " of " + callback.attributes.map(\.uuidString).joined(separator: ", ")
        }
        if let identifier = callback.identifier { text += " from \(identifier)" }
        if let error = callback.error { text += " (\(error.localizedDescription))" }
        return text
    }

    // MARK: The end

    /// What is left when a test has ended, once its managers have handled what is there.
    func leftovers() async -> [Leftover] {
        let managers = state.withLock { $0.managers.compactMap(\.manager) }
        for manager in managers {
            await withCheckedContinuation { continuation in
                manager.afterDelivery { continuation.resume() }
            }
        }
        return Self.leftovers(state.withLock { $0.abandoned }, managers)
    }

    /// The same, for those who cannot await: the main thread serves its run loop meanwhile.
    func leftoversSynchronously() -> [Leftover] {
        let managers = state.withLock { $0.managers.compactMap(\.manager) }
        for manager in managers { Self.wait(for: manager) }
        return Self.leftovers(state.withLock { $0.abandoned }, managers)
    }

    private static func wait(for manager: any ObservedManager) {
        let isMain = Thread.isMainThread
        let semaphore = DispatchSemaphore(value: 0)
        manager.afterDelivery {
            semaphore.signal()
            // Only this wakes the main run loop on Linux.
            if isMain { DispatchQueue.main.async {} }
        }
        guard isMain else { return semaphore.wait() }
        while semaphore.wait(timeout: .now()) == .timedOut {
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
        }
    }

    private static func leftovers(_ abandoned: [String], _ managers: [any ObservedManager]) -> [Leftover] {
        (abandoned + managers.flatMap(\.unansweredCommands)).map(Leftover.unanswered)
            + managers.flatMap(\.livingObjects).map(Leftover.leaked)
    }

    /// Seed and last lines of the trace, once: for the first message of a failure.
    func reproduction() -> String? {
        let isFirst = state.withLock { state in
            defer { state.isReported = true }
            return !state.isReported
        }
        guard isFirst else { return nil }
        let lines = emulator.trace.suffix(Self.traceLines)
        return (["seed \(emulator.seed); the last \(lines.count) lines of the trace:"] + lines).joined(separator: "\n")
    }

    private static let traceLines = 40
}
