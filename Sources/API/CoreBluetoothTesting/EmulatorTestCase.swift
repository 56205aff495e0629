public import BluetoothEmulator
public import XCTest

/// A test case of XCTest whose tests each have a separate emulator, in virtual time.
///
/// Managers that a test's code creates without naming a backend are in that world. A test fails on commands without an
/// answer, and on managers, peripherals and pairing agents that outlive its `tearDown`: set properties to nil there.
open class EmulatorTestCase: XCTestCase {
    private var session: EmulatorSession?

    /// The settings of the emulator; override to change them.
    ///
    /// The preset of the world, or `.instant`.
    open var configuration: EmulatorConfiguration { world.preset?.configuration ?? .instant }

    /// The initial devices and hosts; override to change them.
    ///
    /// The default has only the host "default".
    open var world: WorldDescription { WorldDescription() }

    /// The leftovers that do not fail a test; override to change them.
    open var allowed: EmulatorTrait.Leftovers { [] }

    /// The seed of all random choices; override to change it.
    ///
    /// The number in the environment's `COREBLUETOOTH_SEED`, or the seed of the world, or 1.
    open var seed: UInt64 { Seed.ofEnvironment ?? world.seed ?? 1 }

    /// The test's emulator; within the body of `Emulator.histories`, that of the present run.
    ///
    /// Traps outside a test.
    public var emulator: Emulator {
        guard let session = present else { preconditionFailure("EmulatorTestCase.emulator: no test is running") }
        return session.emulator
    }

    private var present: EmulatorSession? { EmulatorSession.current ?? session }

    /// Fails the test, or the run of `Emulator.histories` whose task calls this function.
    open override func recordFailure(
        withDescription description: String, inFile file: String, atLine line: Int, expected: Bool
    ) {
        if let assertions = FailedAssertions.current {
            return assertions.append("\(file.split(separator: "/").last ?? ""):\(line): \(description)")
        }
        super.recordFailure(withDescription: description, inFile: file, atLine: line, expected: expected)
    }

    /// Runs one test with a separate emulator.
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
            let reproduction = session.reproduction(of: leftover.description, at: name)
            XCTFail([leftover.description, reproduction].compactMap { $0 }.joined(separator: "\n"))
        }
    }

    /// Advances virtual time until these callbacks have arrived in this order; fails the test if they do not.
    ///
    /// Other callbacks may arrive in between; only those that a delegate received count. The next call searches after
    /// the last of these.
    ///
    /// - Parameters:
    ///   - callbacks: The expected callbacks.
    ///   - limit: The most virtual time that it may take.
    ///   - file: The file in which a failure is reported.
    ///   - line: The line at which a failure is reported.
    /// - Returns: The callbacks in this order; empty if one did not arrive.
    @discardableResult
    public func expect(
        _ callbacks: DelegateCallback..., within limit: Duration = .seconds(60), file: StaticString = #filePath,
        line: UInt = #line
    ) -> [ReceivedCallback] {
        expect(CallbackLog.Expectation(callbacks: callbacks), within: limit, file, line)
    }

    /// Advances virtual time until these callbacks have arrived, in any order; fails the test if they do not.
    ///
    /// Each expectation needs a separate callback. Otherwise the same as ``expect(_:within:file:line:)``.
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
        guard let session = present else {
            XCTFail("expect: no test is running", file: file, line: line)
            return []
        }
        let begin = session.emulator.now
        do {
            try session.emulator.advanceSynchronously(until: { session.hasSeen(expectation) }, within: limit)
        } catch {
            let message = session.message(
                expecting: expectation, error, since: begin, at: Self.place(file, line))
            fail(message, session, file, line)
        }
        return session.pass(expectation)
    }

    /// Advances virtual time by a duration; fails the test if one of these callbacks has arrived since the last
    /// expectation.
    public func expectNone(
        of callbacks: DelegateCallback..., for duration: Duration, file: StaticString = #filePath, line: UInt = #line
    ) {
        guard let session = present else { return XCTFail("expectNone: no test is running", file: file, line: line) }
        do {
            try session.emulator.advanceSynchronously(by: duration)
            if let message = session.message(forbidding: callbacks) { fail(message, session, file, line) }
        } catch {
            fail("\(error)", session, file, line)
        }
    }

    private func fail(_ message: String, _ session: EmulatorSession, _ file: StaticString, _ line: UInt) {
        let reproduction = session.reproduction(of: message, at: Self.place(file, line))
        XCTFail([message, reproduction].compactMap { $0 }.joined(separator: "\n"), file: file, line: line)
    }

    /// The file and the line: `FinderTests.swift:12`.
    private static func place(_ file: StaticString, _ line: UInt) -> String {
        "\("\(file)".split(separator: "/").last ?? ""):\(line)"
    }
}
