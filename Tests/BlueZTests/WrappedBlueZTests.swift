#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothInstrumentation
import BluetoothSupport
import Dispatch
import FoundationEssentials
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// A receiver with a queue, which remembers the deliveries that ran on the thread of the backend.
private final class CountingReceiver: EventSink {
    let label = "counting"
    let events = Recorder<CentralEvent>()
    let inlineRuns = Recorder<Void>()
    private let queue = DispatchQueue(label: "CountingReceiver")
    private let waiting = Lock<[@Sendable () -> Void]>([])

    func deliver(_ event: CentralEvent) { append(event)?.start() }
    func append(_ event: CentralEvent) -> (any PendingDelivery)? { add { [events] in events.append(event) } }
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { appendMarker(body)?.start() }
    func appendMarker(_ body: @escaping @Sendable () -> Void) -> (any PendingDelivery)? { add(body) }

    private func add(_ item: @escaping @Sendable () -> Void) -> Delivery? {
        waiting.withLock { waiting in
            waiting.append(item)
            return waiting.count == 1 ? Delivery(receiver: self) : nil
        }
    }

    private struct Delivery: PendingDelivery {
        let receiver: CountingReceiver

        func start() { receiver.queue.async { receiver.drain() } }

        func run() {
            receiver.inlineRuns.append(())
            receiver.queue.sync { receiver.drain() }
        }
    }

    private func drain() {
        while let item = waiting.withLock({ $0.first }) {
            item()
            let isEmpty = waiting.withLock { waiting in
                waiting.removeFirst()
                return waiting.isEmpty
            }
            if isEmpty { return }
        }
    }
}

/// The wrappers around the backend of a scripted `org.bluez`: the same plan, the same trace, real time.
@Suite struct WrappedBlueZTests {
    private func fixture(
        _ faults: Fault..., tracedTo traces: Recorder<BackendTrace> = Recorder()
    ) throws -> BackendFixture {
        try BackendFixture { backend in
            let traced = TracingBackend(around: backend, to: .memory)
            traces.append(traced.trace)
            return try FaultInjectingBackend(around: traced, plan: FaultPlan(faults: faults))
        }
    }

    private func id(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }

    private func read(_ link: LinkID, _ number: UInt64, _ attribute: AttributeID) -> CentralCommand {
        .request(link: link, operation: id(number), .read(attribute))
    }

    @Test(.timeLimit(.minutes(1))) func tracedValuesAreDeliveredByTheThreadThatReadsTheBusToo() async throws {
        let fixture = try BackendFixture()
        let base = fixture.makeBackend()
        let (daemon, other, peer, _) = try await fixture.connected(of: base)
        let backend = TracingBackend(around: base, to: .memory)
        let receiver = CountingReceiver()
        let central = backend.makeCentral(RoleOptions())
        central.activate(receiver)
        central.submit(.connect(peer: peer, operation: id(1), options: ConnectOptions()))
        let event = try await receiver.events.first { if case .connected = $0 { true } else { false } }
        guard case .connected(_, let link, _, _) = event else { throw CancellationError() }
        let attribute = try await fixture.attribute(central, link, events: receiver.events)
        central.submit(.request(link: link, operation: id(12), .setNotifying(attribute, true)))
        try await receiver.events.first { $0 == .response(link: link, operation: id(12), .notifying(true)) }
        // Until a value comes alone, while the thread that takes over is ready.
        var number = 0
        while receiver.inlineRuns.elements.isEmpty {
            try Task.checkCancellation()
            let value = withUnsafeBytes(of: number) { Array($0) }
            daemon.notify(fixture.characteristic, value)
            try await receiver.events.first {
                $0 == .valueNotified(link: link, attribute: attribute, value: Data(value))
            }
            number += 1
        }
        withExtendedLifetime((other, central)) {}
    }

    @Test func aFailedCommandNeverReachesTheDaemon() async throws {
        let error = BackendError.att(0x80, operation: "write")
        let fixture = try fixture(
            Fault(FaultPlace(.centralCommand(.write), characteristic: "2A37"), .once, .error(error)))
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        for number in 10...11 as ClosedRange<UInt64> {
            let value = Data([UInt8(number)])
            central.submit(.request(link: link, operation: id(number), .write(attribute, value)))
        }
        try await fixture.recorder.events.first { $0 == .response(link: link, operation: id(11), .written) }
        #expect(
            fixture.recorder.events.elements.contains(.response(link: link, operation: id(10), .failure(error))))
        #expect(daemon.service.calls.elements.filter { $0.member == "WriteValue" }.count == 1)
        #expect(daemon.value(at: fixture.characteristic) == [11])
    }

    @Test func aDelayedAnswerHoldsWhatFollowsAndALostOneIsMissing() async throws {
        let fixture = try fixture(
            Fault(FaultPlace(.centralEvent(.valueRead)), .once, .delay(by: .milliseconds(30))),
            Fault(FaultPlace(.centralEvent(.valueRead)), .nth(number: 2), .drop))
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        for number in 10...12 as ClosedRange<UInt64> { central.submit(read(link, number, attribute)) }
        let last = CentralEvent.response(link: link, operation: id(12), .value(Data([1, 2, 3])))
        let events = try await fixture.recorder.events.wait { $0.contains(last) }
        let answers = events.filter { if case .response(_, _, .value) = $0 { true } else { false } }
        #expect(answers == [.response(link: link, operation: id(10), .value(Data([1, 2, 3]))), last])
        #expect(daemon.service.calls.elements.filter { $0.member == "ReadValue" }.count == 3)
    }

    @Test func aFaultEndsTheLinkOfTheDaemonToo() async throws {
        let fixture = try fixture(Fault(FaultPlace(.centralCommand(.read)), .once, .disconnect(reason: .remote)))
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        central.submit(read(link, 10, attribute))
        let event = try await fixture.recorder.events.first { if case .disconnected = $0 { true } else { false } }
        guard case .disconnected(link, .remote, _, false, _) = event else {
            Issue.record("\(event)")
            return
        }
        try await daemon.service.calls.first { $0.member == "Disconnect" }
        #expect(!daemon.service.calls.elements.contains { $0.member == "ReadValue" })
    }

    @Test func aWriteIsPerformedByTheDaemonAndItsAnswerIsLostWithTheLink() async throws {
        let fixture = try fixture(
            Fault(
                FaultPlace(.centralEvent(.written), characteristic: "2A37"), .once, .disconnect(reason: .timeout)))
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        central.submit(.request(link: link, operation: id(10), .write(attribute, Data([7]))))
        let event = try await fixture.recorder.events.first { if case .disconnected = $0 { true } else { false } }
        guard case .disconnected(link, .timeout, _, false, _) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(daemon.value(at: fixture.characteristic) == [7])
        try await daemon.service.calls.first { $0.member == "Disconnect" }
        #expect(!fixture.recorder.events.elements.contains(.response(link: link, operation: id(10), .written)))
    }

    @Test func theTraceAgreesWithTheDaemon() async throws {
        let traces = Recorder<BackendTrace>()
        let fixture = try fixture(tracedTo: traces)
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        central.submit(read(link, 10, attribute))
        let answer = CentralEvent.response(link: link, operation: id(10), .value(Data([1, 2, 3])))
        try await fixture.recorder.events.first { $0 == answer }
        daemon.kill()
        try await fixture.recorder.wait(for: .resetting)
        let entries = try #require(traces.elements.first).entries
        func names(_ category: TraceCategory) -> [String] {
            entries.filter { $0.category == category }.map { String($0.text.prefix { $0 != " " }) }
        }
        #expect(names(.configuration) == ["makeCentral", "activate"])
        #expect(names(.command) == ["startScan", "connect", "discoverServices", "discoverCharacteristics"])
        #expect(names(.data) == ["read", "valueRead"])
        let callbacks = names(.callback).filter { $0 != "mtuChanged" && $0 != "discovered" }
        #expect(
            callbacks == [
                "stateChanged", "connected", "servicesDiscovered", "characteristicsDiscovered", "stateChanged",
            ])
        #expect(entries.last?.text == "stateChanged state=resetting")
        #expect(entries.contains { $0.text.hasSuffix("value=<3 bytes>") })
    }
}
#endif
