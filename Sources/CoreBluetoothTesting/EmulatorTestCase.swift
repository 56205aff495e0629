public import BluetoothEmulator
public import XCTest

/// For tests of XCTest: each gets an emulated radio of its own, in virtual time.
///
/// Managers that a test's code makes without naming a radio are in that world. A test fails on commands without an
/// answer, and on managers and peripherals that outlive its `tearDown`: set properties to nil there.
open class EmulatorTestCase: XCTestCase {
    private var session: EmulatorSession?

    /// The settings of the emulator; override to change them.
    open var configuration: EmulatorConfiguration { .instant }

    /// From which all chance follows; override to change it.
    ///
    /// The number in the environment's `COREBLUETOOTH_SEED`, or 1.
    open var seed: UInt64 { Seed.ofEnvironment }

    /// The test's emulator.
    ///
    /// Traps outside a test.
    public var emulator: Emulator {
        guard let session else { preconditionFailure("EmulatorTestCase.emulator: no test is running") }
        return session.emulator
    }

    /// Runs one test with an emulator of its own.
    open override func invokeTest() {
        let session = EmulatorSession(
            Emulator(configuration: configuration, time: .virtual, seed: seed), isOfXCTest: true)
        self.session = session
        session.run { super.invokeTest() }
        self.session = nil
        for leftover in session.leftoversSynchronously() {
            XCTFail([leftover.description, session.reproduction()].compactMap { $0 }.joined(separator: "\n"))
        }
    }

    /// Lets virtual time go on until these callbacks have come in this order; fails the test if they do not.
    ///
    /// Other callbacks may come in between. The next call looks behind the last of these.
    ///
    /// - Parameter limit: The most virtual time that it may take.
    public func expect(
        _ callbacks: DelegateCallback..., within limit: Duration = .seconds(60), file: StaticString = #filePath,
        line: UInt = #line
    ) {
        guard let session else { return XCTFail("expect: no test is running", file: file, line: line) }
        do {
            try session.emulator.advanceSynchronously(until: { session.hasSeen(callbacks) }, within: limit)
        } catch {
            let text = [session.message(expecting: callbacks, error), session.reproduction()]
            XCTFail(text.compactMap { $0 }.joined(separator: "\n"), file: file, line: line)
        }
        session.consume(callbacks)
    }
}
