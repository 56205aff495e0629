public import BluetoothEmulator
public import XCTest

/// For tests of XCTest: each gets an emulator of its own, in virtual time.
///
/// Managers that a test's code makes without naming a backend are in that world. A test fails on commands without an
/// answer, and on managers, peripherals and pairing agents that outlive its `tearDown`: set properties to nil there.
open class EmulatorTestCase: XCTestCase {
    private var session: EmulatorSession?

    /// The settings of the emulator; override to change them.
    ///
    /// The preset of the world, or `.instant`.
    open var configuration: EmulatorConfiguration { world.preset?.configuration ?? .instant }

    /// The devices and hosts at first; override to change them.
    ///
    /// None but the host "default".
    open var world: WorldDescription { WorldDescription() }

    /// What a test may leave behind without failing; override to change it.
    open var allowed: EmulatorTrait.Leftovers { [] }

    /// From which all chance follows; override to change it.
    ///
    /// The number in the environment's `COREBLUETOOTH_SEED`, or the seed of the world, or 1.
    open var seed: UInt64 { Seed.ofEnvironment ?? world.seed ?? 1 }

    /// The test's emulator.
    ///
    /// Traps outside a test.
    public var emulator: Emulator {
        guard let session else { preconditionFailure("EmulatorTestCase.emulator: no test is running") }
        return session.emulator
    }

    /// Runs one test with an emulator of its own.
    open override func invokeTest() {
        let session: EmulatorSession
        do {
            session = EmulatorSession(
                try Emulator(world: world, configuration: configuration, time: .virtual, seed: seed), named: name,
                isOfXCTest: true)
        } catch {
            return XCTFail("the world cannot be: \(error)")
        }
        self.session = session
        let watch = StandstillWatch(session.emulator)
        watch.begin()
        session.run { super.invokeTest() }
        watch.end()
        self.session = nil
        if let failure = watch.failure { XCTFail(failure) }
        for leftover in session.leaksSynchronously() where !leftover.isAllowed(by: allowed) {
            XCTFail([leftover.description, session.reproduction()].compactMap { $0 }.joined(separator: "\n"))
        }
    }

    /// Advances virtual time until these callbacks have come in this order; fails the test if they do not.
    ///
    /// Other callbacks may come in between; only those that a delegate received count. The next call looks behind the
    /// last of these.
    ///
    /// - Parameters:
    ///   - callbacks: What is to come.
    ///   - limit: The most virtual time that it may take.
    ///   - file: The file in which a failure is reported.
    ///   - line: The line at which a failure is reported.
    /// - Returns: The callbacks in this order; none if one did not come.
    @discardableResult
    public func expect(
        _ callbacks: DelegateCallback..., within limit: Duration = .seconds(60), file: StaticString = #filePath,
        line: UInt = #line
    ) -> [ReceivedCallback] {
        expect(CallbackLog.Expectation(callbacks: callbacks), within: limit, file, line)
    }

    /// Advances virtual time until these callbacks have come, in whichever order; fails the test if they do not.
    ///
    /// Each needs a callback of its own. Otherwise as ``expect(_:within:file:line:)``.
    @discardableResult
    public func expectInAnyOrder(
        _ callbacks: DelegateCallback..., within limit: Duration = .seconds(60), file: StaticString = #filePath,
        line: UInt = #line
    ) -> [ReceivedCallback] {
        expect(CallbackLog.Expectation(callbacks: callbacks, isOrdered: false), within: limit, file, line)
    }

    private func expect(
        _ expectation: CallbackLog.Expectation, within limit: Duration, _ file: StaticString, _ line: UInt
    ) -> [ReceivedCallback] {
        guard let session else {
            XCTFail("expect: no test is running", file: file, line: line)
            return []
        }
        do {
            try session.emulator.advanceSynchronously(until: { session.hasSeen(expectation) }, within: limit)
        } catch {
            fail(session.message(expecting: expectation, error), session, file, line)
        }
        return session.pass(expectation)
    }

    /// Advances virtual time by a duration; fails the test if one of these callbacks has come since the last expectation.
    public func expectNone(
        of callbacks: DelegateCallback..., for duration: Duration, file: StaticString = #filePath, line: UInt = #line
    ) {
        guard let session else { return XCTFail("expectNone: no test is running", file: file, line: line) }
        do {
            try session.emulator.advanceSynchronously(by: duration)
            if let message = session.message(forbidding: callbacks) { fail(message, session, file, line) }
        } catch {
            fail("\(error)", session, file, line)
        }
    }

    private func fail(_ message: String, _ session: EmulatorSession, _ file: StaticString, _ line: UInt) {
        let text = [message, session.reproduction()].compactMap { $0 }.joined(separator: "\n")
        XCTFail(text, file: file, line: line)
    }
}
