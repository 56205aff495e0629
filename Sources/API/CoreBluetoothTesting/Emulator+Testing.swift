public import BluetoothEmulator
public import Testing
import XCTest

extension Emulator {
    /// The emulator of the running test, given by the trait `.emulator(…)` or by ``EmulatorTestCase``.
    ///
    /// A task-local: the test's task and its child tasks see it. Detached tasks and blocks on dispatch queues do not;
    /// pass it to them. Traps outside such a test.
    public static var current: Emulator {
        guard let session = EmulatorSession.current else {
            preconditionFailure("Emulator.current: this test has no emulator; give it the trait .emulator(…)")
        }
        return session.emulator
    }

    /// Advances virtual time until a callback has arrived.
    ///
    /// Only callbacks that a delegate received count. The next call searches after this one. If the callback does not
    /// arrive in time, an issue is recorded that lists the callbacks that did, with the reason if the trace shows one; the
    /// test continues.
    ///
    /// - Parameters:
    ///   - callback: The expected callback.
    ///   - limit: The most virtual time that it may take.
    ///   - sourceLocation: The place at which a failure is reported.
    /// - Returns: The callback with its value; nil if it did not arrive.
    @discardableResult
    public func expect(
        _ callback: DelegateCallback, within limit: Duration = .seconds(60),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> ReceivedCallback? {
        await expect(CallbackLog.Expectation(callbacks: [callback]), within: limit, sourceLocation).first
    }

    /// Advances virtual time until these callbacks have arrived in this order.
    ///
    /// Other callbacks may arrive in between. Otherwise the same as for one callback.
    ///
    /// - Parameters:
    ///   - callbacks: The expected callbacks.
    ///   - limit: The most virtual time that it may take.
    ///   - sourceLocation: The place at which a failure is reported.
    /// - Returns: The callbacks in this order; empty if one did not arrive.
    @discardableResult
    public func expect(
        _ callbacks: DelegateCallback..., within limit: Duration = .seconds(60),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> [ReceivedCallback] {
        await expect(CallbackLog.Expectation(callbacks: callbacks), within: limit, sourceLocation)
    }

    /// Advances virtual time until these callbacks have arrived, in any order.
    ///
    /// Each expectation needs a separate callback. Otherwise the same as for callbacks in an order.
    ///
    /// - Parameters:
    ///   - callbacks: The expected callbacks.
    ///   - limit: The most virtual time that it may take.
    ///   - sourceLocation: The place at which a failure is reported.
    /// - Returns: The callbacks in the order of the arguments; empty if one did not arrive.
    @discardableResult
    public func expectInAnyOrder(
        _ callbacks: DelegateCallback..., within limit: Duration = .seconds(60),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> [ReceivedCallback] {
        await expect(
            CallbackLog.Expectation(callbacks: callbacks, isOrdered: false), within: limit, sourceLocation)
    }

    private func expect(
        _ expectation: CallbackLog.Expectation, within limit: Duration, _ location: SourceLocation
    ) async -> [ReceivedCallback] {
        guard let session = EmulatorSession.current, session.emulator === self else {
            Issue.record("expect: this emulator is not the test's own", sourceLocation: location)
            return []
        }
        let begin = now
        do {
            try await advance(until: { session.hasSeen(expectation) }, within: limit)
        } catch {
            session.fail(session.message(expecting: expectation, error, since: begin, at: location.text), location)
        }
        return session.pass(expectation)
    }

    /// Advances virtual time by a duration, and records an issue if one of these callbacks has come since the last
    /// expectation.
    public func expectNone(
        of callbacks: DelegateCallback..., for duration: Duration, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        guard let session = EmulatorSession.current, session.emulator === self else {
            Issue.record("expectNone: this emulator is not the test's own", sourceLocation: sourceLocation)
            return
        }
        do {
            try await advance(by: duration)
            if let message = session.message(forbidding: callbacks) { session.fail(message, sourceLocation) }
        } catch {
            session.fail("\(error)", sourceLocation)
        }
    }
}

extension Emulator {
    /// Requires a condition now and after each event of the running test.
    ///
    /// The first time that it is false fails the test, with the time; the test continues. In a test under histories, a
    /// violation counts as the failure of the history.
    ///
    /// - Parameters:
    ///   - rule: The rule in words, for the failure: "each record is stored once".
    ///   - sourceLocation: The place at which a failure is reported.
    ///   - condition: Evaluated on any thread, one evaluation at a time; must not wait, nor change the world.
    public func always(
        _ rule: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: @escaping @Sendable () -> Bool
    ) {
        guard let session = EmulatorSession.current, session.emulator === self else {
            Issue.record("always: this emulator is not the test's own", sourceLocation: sourceLocation)
            return
        }
        session.always(rule, at: sourceLocation, condition)
    }
}

extension EmulatorSession {
    /// Fails the test in the testing library that runs it.
    func fail(_ message: String, _ location: SourceLocation) {
        guard isOfXCTest else { return _ = Issue.record("\(message)", sourceLocation: location) }
        let text = ["\(location.fileID):\(location.line): \(message)", reproduction(of: message, at: location.text)]
        XCTFail(text.compactMap { $0 }.joined(separator: "\n"))
    }
}

extension SourceLocation {
    /// The file and the line: `FinderTests.swift:12`.
    var text: String { "\(fileName):\(line)" }
}
