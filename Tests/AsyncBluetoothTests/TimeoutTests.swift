import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@Suite(.emulator(.slowReader)) struct TimeoutTests {
    @Test func theLateAnswerOfATimedOutReadCompletesNothing() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let (failure, value, duration) = try await fixture.run { () -> (BluetoothError?, Data, Duration) in
            try await gadget.connect()
            _ = try await gadget.characteristics(of: "FFF0")
            let start = clock.now
            var failure: BluetoothError?
            do {
                _ = try await withTimeout(.seconds(1), clock: clock) { try await gadget.read("FFF0/FFF1") }
            } catch let error as BluetoothError {
                failure = error
            }
            // The device answers the first read with the old value at 2 s, the next one at 4 s.
            async let next = gadget.read("FFF0/FFF1")
            try await clock.sleep(for: .milliseconds(1_500))
            device.setValue(Data([9]), of: "FFF1")
            return (failure, try await next, start.duration(to: clock.now))
        }
        guard case .timedOut(.seconds(1)) = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(failure?.operation == .read)
        #expect(failure?.path == "FFF0/FFF1")
        #expect(failure?.peer == gadget.identifier)
        #expect(value == Data([9]))
        #expect(duration >= .seconds(4))
    }

    @Test func aCommandThatIsCancelledBeforeItsTurnIsNotSent() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        try await fixture.run {
            _ = try await gadget.characteristics(of: "FFF0")
            async let first = gadget.read("FFF0/FFF1")
            try await clock.sleep(for: .milliseconds(500))
            await #expect(throws: BluetoothError.self) {
                try await withTimeout(.milliseconds(500), clock: clock) { try await gadget.read("FFF0/FFF1") }
            }
            _ = try await first
        }
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(fixture.count(of: " read ") == 1, "\(fixture.emulator.trace.map(\.description))")
    }

    @Test func aConnectThatTimesOutIsTakenBack() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        device.setProximity(.outOfRange)
        let clock = fixture.emulator.swiftClock
        await #expect(throws: BluetoothError.self) {
            try await fixture.run { try await withTimeout(.seconds(5), clock: clock) { try await gadget.connect() } }
        }
        #expect(gadget.state == .disconnected)
        device.setProximity(.near)
        try await fixture.emulator.advance(by: .seconds(10))
        #expect(device.connectionCount == 0)
    }

    @Test func aConnectThatOthersWaitForGoesOn() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        device.setProximity(.outOfRange)
        let clock = fixture.emulator.swiftClock
        try await fixture.run {
            async let patient: Void = gadget.connect()
            await #expect(throws: BluetoothError.self) {
                try await withTimeout(.seconds(5), clock: clock) { try await gadget.connect() }
            }
            device.setProximity(.near)
            try await patient
        }
        #expect(device.connectionCount == 1)
    }

    @Test func aTimeoutWithinALoopOfNotificationsNamesThePath() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let error = await #expect(throws: BluetoothError.self) {
            try await fixture.run {
                try await withTimeout(.seconds(5), clock: clock) {
                    for try await _ in gadget.notifications(of: "FFF0/FFF1") {}
                }
            }
        }
        guard case .timedOut(.seconds(5)) = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.operation == .notifications)
        #expect(error?.peer == gadget.identifier)
        #expect(error?.path == "FFF0/FFF1")
    }

    @Test func aTimeoutOfARequestNamesWhatShouldAnswer() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let error = await #expect(throws: BluetoothError.self) {
            try await fixture.run {
                try await withTimeout(.seconds(5), clock: clock) {
                    _ = try await gadget.exchange(Data([1]), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF2")
                }
            }
        }
        #expect(error?.operation == .exchange)
        #expect(error?.path == "FFF0/FFF2")
    }

    @Test func aTimeoutWithinAScanNamesTheServices() async throws {
        let fixture = Fixture()
        let central = fixture.makeCentral()
        let clock = fixture.emulator.swiftClock
        let error = await #expect(throws: BluetoothError.self) {
            try await fixture.run {
                try await withTimeout(.seconds(5), clock: clock) {
                    for try await _ in central.scan(for: [CBUUID(string: "180F"), CBUUID(string: "180D")]) {}
                }
            }
        }
        #expect(error?.operation == .scan)
        #expect(error?.path == "180D, 180F")
    }

    @Test func anOperationThatIsInTimeReturnsItsValue() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let value = try await fixture.run {
            try await withTimeout(.seconds(10), clock: clock) { try await gadget.read("FFF0/FFF1") }
        }
        #expect(value == Data([1]))
    }

    @Test func anotherErrorPassesThroughATimeout() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let reason = try await fixture.run { () -> BluetoothError.Reason? in
            do {
                _ = try await withTimeout(.seconds(10), clock: clock) { try await gadget.read("180D/2A37") }
                return nil
            } catch let error as BluetoothError {
                return error.reason
            }
        }
        guard case .missingServices = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func aCancelledTaskGetsCancellationErrorFromEachOperation() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        try await fixture.run {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await #expect(throws: CancellationError.self) { try await gadget.read("FFF0/FFF1") }
                await #expect(throws: CancellationError.self) { try await gadget.connect() }
                await #expect(throws: CancellationError.self) { try await gadget.readRSSI() }
                await #expect(throws: CancellationError.self) {
                    for try await _ in gadget.notifications(of: "FFF0/FFF1") {}
                }
                await #expect(throws: CancellationError.self) {
                    try await gadget.exchange(Data(), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF1")
                }
            }
            await task.value
        }
    }

    @Test func aSuccessIsNotLostWhenTheCallerIsCancelledMeanwhile() async throws {
        let gate = Gate()
        let task = Task {
            // The operation cannot be cancelled, and succeeds after the sleep of the limit has ended.
            try await withTimeout(.seconds(1), clock: EndlessClock(gate: gate)) { () -> Int in
                await gate.wait()
                return 7
            }
        }
        task.cancel()
        #expect(try await task.value == 7)
    }
}

/// A gate that opens once; the wait for it is not cancelled with its task.
private final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    func open() {
        let waiter = state.withLock { state in
            state.isOpen = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiter = waiter }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
    }
}

/// A clock whose sleep ends only with its cancellation, and then opens a gate.
private struct EndlessClock: Clock {
    let now = ContinuousClock.now
    let minimumResolution = Duration.zero
    let gate: Gate

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        defer { gate.open() }
        for await _ in AsyncStream<Never>.makeStream().stream {}
        throw CancellationError()
    }
}

extension EmulatorConfiguration {
    /// The settings without latency, except that a device needs two seconds for a read.
    static let slowReader: EmulatorConfiguration = {
        var configuration = EmulatorConfiguration.instant
        configuration.readDelay = .seconds(2)
        return configuration
    }()
}
