#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Dispatch
import Glibc
import Testing

/// The thread that handles what is due in real time.
@Suite(.timeLimit(.minutes(1))) struct RealTimeTests {
    /// Handles a delivery: on the thread that runs it, with the one that handled what was due; or started, with nil.
    private typealias Handler = @Sendable (_ waiting: pthread_t?) -> Void

    private final class Sink: EventSink {
        struct Delivery: PendingDelivery {
            let body: Handler
            let waiting = pthread_self()

            func start() { body(nil) }

            func run() { body(waiting) }
        }

        let label = "real time"
        private let body: Handler

        init(_ body: @escaping Handler) { self.body = body }

        func deliver(_ event: CentralEvent) { append(event)?.start() }

        func append(_ event: CentralEvent) -> (any PendingDelivery)? {
            if case .discovered = event { Delivery(body: body) } else { nil }
        }

        func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
    }

    private let emulator = Emulator(configuration: .instant, time: .scaled(by: 20))

    init() throws { try emulator.add(ContractPeer.description) }

    /// Starts a scan whose reports go to a receiver.
    private func scan(_ body: @escaping Handler) -> any CentralBackend {
        let central = emulator.makeCentral(RoleOptions())
        central.activate(Sink(body))
        var parameters = ScanParameters()
        parameters.allowDuplicates = true
        central.submit(.startScan(parameters))
        return central
    }

    @Test func aSingleReportIsHandledByTheThreadThatWaitedForIt() async {
        let (matches, continuation) = AsyncStream.makeStream(of: Bool.self)
        let central = scan { waiting in
            if let waiting { continuation.yield(waiting == pthread_self()) }
        }
        var iterator = matches.makeAsyncIterator()
        for _ in 0..<2 { #expect(await iterator.next() == true) }
        central.invalidate()
    }

    @Test func aCallbackThatBlocksDelaysNoOtherManager() async {
        let mayReturn = DispatchSemaphore(value: 0)
        let (blocked, continuation) = AsyncStream.makeStream(of: Void.self)
        let slow = scan { waiting in
            guard waiting != nil else { return }
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
