#if Emulator
import BluetoothEmulator
import BluetoothSupport
import Foundation
import XCTest

@testable import CoreBluetoothClasses

/// Streams in the main run loop while the main thread waits for virtual time; XCTest runs its tests on that thread.
final class StreamMainThreadTests: XCTestCase {
    func testASynchronousAdvanceDeliversEventsAtTheirTime() throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let pair = ChannelPair(window: 10, clock: emulator.clock)
        let near = try XCTUnwrap(pair.channel(pair.near))
        let far = Unchecked(try XCTUnwrap(pair.channel(pair.far)))
        let times = Lock<[Duration]>([])
        let listener = StreamListener { _, _ in
            XCTAssertTrue(Thread.isMainThread)
            times.withLock { $0.append(emulator.now) }
        }
        near.inputStream.delegate = listener
        near.inputStream.schedule(in: .main, forMode: .default)
        near.inputStream.open()
        far.value.outputStream.open()
        emulator.clock.schedule(after: .seconds(1)) { far.value.outputStream.write(Data([1])) }
        try emulator.advanceSynchronously(by: .seconds(60))
        XCTAssertEqual(listener.lines, ["open", "bytes"])
        XCTAssertEqual(times.withLock { $0 }, [.zero, .seconds(1)])
    }
}
#endif
