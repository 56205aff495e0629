import BluetoothBackend
import BluetoothInstrumentation
import BluetoothSupport
import BluetoothTracing
import FoundationEssentials
import Testing

/// Wrappers keep the batches, the threads and the times of what passes them.
struct InterposingTests {
    enum Wrapper: CaseIterable {
        case tracing, observing, faults, allOfThem
    }

    private final class Messages: Sendable {
        let all = Lock<[ObservedMessage]>([])
        func observe(_ messages: [ObservedMessage]) { all.withLock { $0 += messages } }
    }

    private let base = TestBackend()
    private let sink = TestSink<CentralEvent>()
    private let messages = Messages()

    private func wrapped(_ wrapper: Wrapper) throws -> any BluetoothBackend {
        switch wrapper {
        case .tracing: TracingBackend(around: base, to: .memory)
        case .observing: ObservingBackend(around: base, messages.observe)
        case .faults: try FaultInjectingBackend(around: base, plan: FaultPlan(faults: []))
        case .allOfThem:
            ObservingBackend(
                around: try FaultInjectingBackend(
                    around: TracingBackend(around: base, to: .memory), plan: FaultPlan(faults: [])),
                messages.observe)
        }
    }

    @Test(arguments: Wrapper.allCases) func appendedEventsAreOneDeliveryThatTheBackendStarts(wrapper: Wrapper) throws {
        let central = try wrapped(wrapper).makeCentral(RoleOptions())
        central.activate(sink)
        let events: [CentralEvent] = [
            .stateChanged(.poweredOn), .discovered(Samples.discovery), .stateChanged(.poweredOff),
        ]
        let receiver = try #require(base.central.role.sink)
        let deliveries = events.compactMap { receiver.append($0) }
        #expect(deliveries.count == 1)
        #expect(sink.starts == 0)
        deliveries.first?.run()
        #expect(sink.takeEvents() == events)
        #expect(sink.starts == 0)
        withExtendedLifetime(central) {}
    }

    @Test func aLineAndAnObservedEventHaveTheTimeOfTheirDelivery() {
        let traced = TracingBackend(around: ObservingBackend(around: base, messages.observe), to: .memory)
        let central = traced.makeCentral(RoleOptions())
        central.activate(sink)
        base.testClock.advance(by: .seconds(1))
        base.central.role.deliver(.stateChanged(.poweredOn))
        base.testClock.advance(by: .seconds(1))
        base.central.role.deliver(.stateChanged(.poweredOff))
        // The receiver's queue is busy meanwhile.
        base.testClock.advance(by: .seconds(10))
        sink.drain()
        #expect(traced.trace.entries.map(\.time) == [0, 0, 1, 2].map { .seconds($0) })
        #expect(messages.all.withLock { $0.map(\.time) } == [.seconds(1), .seconds(2)])
        withExtendedLifetime(central) {}
    }
}
