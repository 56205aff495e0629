public import BluetoothEmulator
public import Testing
import XCTest

extension Emulator {
    /// The emulator of the test that runs, given by the trait `.emulator(…)` or by ``EmulatorTestCase``.
    ///
    /// A task-local: the test's own task and its child tasks see it. Detached tasks and blocks on dispatch queues do
    /// not; give it to them. Traps where there is none.
    public static var current: Emulator {
        guard let session = EmulatorSession.current else {
            preconditionFailure("Emulator.current: this test has no emulator; give it the trait .emulator(…)")
        }
        return session.emulator
    }

    /// Lets virtual time go on until these callbacks have come in this order.
    ///
    /// Other callbacks may come in between. The next call looks behind the last of these. If they do not come in time,
    /// an issue is recorded that says what came instead; the test goes on. `limit` is the most virtual time that it may
    /// take.
    public func expect(
        _ callbacks: DelegateCallback..., within limit: Duration = .seconds(60),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        guard let session = EmulatorSession.current, session.emulator === self else {
            Issue.record("expect: this emulator is not the test's own", sourceLocation: sourceLocation)
            return
        }
        do {
            try await advance(until: { session.hasSeen(callbacks) }, within: limit)
        } catch {
            session.fail(session.message(expecting: callbacks, error), sourceLocation)
        }
        session.consume(callbacks)
    }

    /// Lets virtual time go on for so long, and records an issue if one of these callbacks has come since the last
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

extension EmulatorSession {
    /// Fails the test, with the library that runs it.
    fileprivate func fail(_ message: String, _ location: SourceLocation) {
        guard isOfXCTest else { return _ = Issue.record("\(message)", sourceLocation: location) }
        let text = ["\(location.fileID):\(location.line): \(message)", reproduction()]
        XCTFail(text.compactMap { $0 }.joined(separator: "\n"))
    }
}
