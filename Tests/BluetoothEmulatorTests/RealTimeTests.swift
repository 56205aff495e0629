#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Dispatch
import Glibc
import Testing

/// The thread that handles what is due in real time.
@Suite(.timeLimit(.minutes(1))) struct RealTimeTests {
    /// A receiver that does something with each delivery, on whichever thread runs or starts it.
    private final class Sink: EventSink {
        struct Delivery: PendingDelivery {
            let body: @Sendable (_ isInline: Bool) -> Void

            func start() { body(false) }

            func run() { body(true) }
        }

        let label = "real time"
        private let body: @Sendable (_ isInline: Bool) -> Void

        init(_ body: @escaping @Sendable (_ isInline: Bool) -> Void) { self.body = body }

        func deliver(_ event: CentralEvent) { append(event)?.start() }

        func append(_ event: CentralEvent) -> (any PendingDelivery)? {
            if case .discovered = event { Delivery(body: body) } else { nil }
        }

        func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
    }

    private let emulator = Emulator(configuration: .instant, time: .scaled(by: 20))

    init() throws { try emulator.add(ContractPeer.description) }

    /// Starts a scan whose reports go to a receiver.
    private func scan(_ body: @escaping @Sendable (_ isInline: Bool) -> Void) -> any CentralBackend {
        let central = emulator.makeCentral(RoleOptions())
        central.activate(Sink(body))
        var parameters = ScanParameters()
        parameters.allowDuplicates = true
        central.submit(.startScan(parameters))
        return central
    }

    @Test func aSingleReportIsHandledByTheThreadThatWaitedForIt() async {
        let (threads, continuation) = AsyncStream.makeStream(of: pthread_t.self)
        let central = scan { isInline in
            if isInline { continuation.yield(pthread_self()) }
        }
        var iterator = threads.makeAsyncIterator()
        let first = await iterator.next()
        #expect(await iterator.next() == first)
        central.invalidate()
    }

    @Test func aCallbackThatBlocksDelaysNoOtherManager() async {
        let mayReturn = DispatchSemaphore(value: 0)
        let (blocked, continuation) = AsyncStream.makeStream(of: Void.self)
        let slow = scan { isInline in
            guard isInline else { return }
            continuation.yield()
            mayReturn.wait()
        }
        var isBlocked = blocked.makeAsyncIterator()
        _ = await isBlocked.next()
        let (reports, reported) = AsyncStream.makeStream(of: Void.self)
        let other = scan { _ in reported.yield() }
        var report = reports.makeAsyncIterator()
        for _ in 0..<3 { #expect(await report.next() != nil) }
        slow.invalidate()
        mayReturn.signal()
        other.invalidate()
    }
}
#endif
