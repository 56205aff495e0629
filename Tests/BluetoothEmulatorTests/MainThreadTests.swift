import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Dispatch
import Synchronization
import XCTest

/// Tests with XCTest, which runs them on the main thread outside the main queue, like a program's top level.
///
/// A test of the main actor in Swift Testing runs inside a block of the main queue, which runs no other block
/// meanwhile.
final class MainThreadTests: XCTestCase {
    func testTheSynchronousTwinsServeTheMainQueue() throws {
        XCTAssertTrue(Thread.isMainThread)
        let emulator = Emulator(time: .virtual)
        let sink = MainQueueSink()
        emulator.makeCentral(RoleOptions()).activate(sink)
        try emulator.advanceSynchronously(by: .milliseconds(99))
        XCTAssertEqual(sink.count, 0)
        try emulator.advanceSynchronously(by: .seconds(1))
        XCTAssertEqual(sink.count, 1)
    }
}

/// A receiver on the main queue.
private final class MainQueueSink: EventSink {
    let label = "main"
    private let handled = Lock(0)

    var count: Int { handled.withLock { $0 } }

    func deliver(_ event: CentralEvent) {
        DispatchQueue.main.async { self.handled.withLock { $0 += 1 } }
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: body) }
}
