public import BluetoothEmulator
import BluetoothSupport
import CoreBluetoothClasses
public import Testing
import XCTest

extension Emulator {
    /// The time since the world began at which the incidents of this run's history are over; zero in a run without any.
    ///
    /// A test that expects an app to recover waits until then: `try await Task.sleep(for: emulator.endOfIncidents -
    /// emulator.now)`. A fault that a device has with its next read or write waits for that step, and may still come
    /// later.
    public var endOfIncidents: Duration { endOfScript }

    /// Runs a body under many radio histories, and reports the simplest one that makes it fail; for tests of XCTest.
    ///
    /// Does for a part of a test what the trait `.emulator(.histories(1000))` does for a whole test of Swift Testing.
    /// Within the body, ``current`` is the emulator of the present run. The body fails by throwing, by
    /// ``always(_:sourceLocation:_:)``, by leaks, commands without an answer and standstill, by the issues of Swift
    /// Testing, and, in an ``EmulatorTestCase``, by the assertions of XCTest in the body's own tasks.
    ///
    /// - Parameters:
    ///   - histories: The number or the time of the histories, and what may go wrong: `.histories(1000)`.
    ///   - configuration: Delays, sizes and probabilities; nil takes the preset of the world, or `.default`.
    ///   - seed: The seed of the search; nil takes the number in the environment's `COREBLUETOOTH_SEED`, or the seed of
    ///     the world, or 1.
    ///   - world: The initial devices and hosts; by default only the host "default".
    ///   - allowed: The leftovers that do not fail a run.
    ///   - name: The name of the test, for its report.
    ///   - sourceLocation: The place at which a failure is reported.
    ///   - body: The code under test, which runs on the executor of each run's emulator.
    public static func histories(
        _ histories: RadioHistories, configuration: EmulatorConfiguration? = nil, seed: UInt64? = nil,
        world: WorldDescription = WorldDescription(), allowing allowed: EmulatorTrait.Leftovers = [],
        named name: String = #function, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable () async throws -> Void
    ) async {
        let fail: @Sendable (String) -> Void = { message in
            if Test.current != nil {
                Issue.record("\(message)", sourceLocation: sourceLocation)
            } else {
                XCTFail("\(sourceLocation.fileID):\(sourceLocation.line): \(message)")
            }
        }
        let test = HistoryTest(
            world: world, configuration: configuration ?? world.preset?.configuration ?? .default,
            seed: seed ?? Seed.ofEnvironment ?? world.seed ?? 1, name: name, isOfXCTest: Test.current == nil,
            process: nil,
            runSilently: { await $0.failures(of: body, allowing: allowed, isSilent: true) },
            runReporting: { session in
                let failures = await session.failures(of: body, allowing: allowed, isSilent: false)
                for failure in failures {
                    let reproduction = session.reproduction(of: failure, at: sourceLocation.text)
                    fail([failure, reproduction].compactMap(\.self).joined(separator: "\n"))
                }
                return !failures.isEmpty
            }, fail: fail)
        do {
            try await test.run(under: histories)
        } catch {
            fail("the histories cannot run: \(error)")
        }
    }
}

extension EmulatorSession {
    /// Runs a body, and returns its failures without reporting them.
    ///
    /// - Parameter isSilent: Whether warnings and known issues are not reported either.
    func failures(
        of body: @Sendable () async throws -> Void, allowing allowed: EmulatorTrait.Leftovers, isSilent: Bool
    ) async -> [String] {
        guard let test = Test.current else { return await unrecordedFailures(body, allowing: allowed) }
        let failures = Lock<[String]>([])
        let collecting = IssueHandlingTrait.compactMapIssues { issue in
            guard issue.failsTest else { return isSilent ? nil : issue }
            let place = issue.sourceLocation.map { "\($0.text): " } ?? ""
            failures.withLock { $0.append(place + issue.description) }
            return nil
        }
        do {
            try await collecting.provideScope(for: test, testCase: nil) {
                let others = await unrecordedFailures(body, allowing: allowed)
                failures.withLock { $0 += others }
            }
        } catch {
            failures.withLock { $0.append("thrown: \(error)") }
        }
        return failures.withLock { $0 }
    }

    /// Runs a body, and returns the failures that are no issues of Swift Testing.
    private func unrecordedFailures(
        _ body: @Sendable () async throws -> Void, allowing allowed: EmulatorTrait.Leftovers
    ) async -> [String] {
        let assertions = FailedAssertions()
        var failures: [String] = []
        let end = await runWatched {
            try await FailedAssertions.$current.withValue(assertions, operation: body)
        } reporting: { message, _ in
            failures.append(message)
        }
        if case .failure(let error)? = end { failures.append("thrown: \(error)") }
        failures += assertions.messages
        guard case .success? = end else { return failures }
        return failures + (await leaks()).filter { !$0.isAllowed(by: allowed) }.map(\.description)
    }
}

/// The assertions of XCTest that failed in the tasks of one run.
final class FailedAssertions: Sendable {
    @TaskLocal static var current: FailedAssertions?

    private let failures = Lock<[String]>([])

    var messages: [String] { failures.withLock { $0 } }

    func append(_ message: String) { failures.withLock { $0.append(message) } }
}
