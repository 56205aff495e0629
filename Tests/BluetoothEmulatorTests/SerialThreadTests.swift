import BluetoothSupport
import Dispatch
import Foundation
import Testing

@testable import BluetoothEmulator

@Suite struct SerialThreadTests {
    @Test func workIsPerformedOneAfterTheOtherOnOneThread() {
        let thread = SerialThread(name: "test")
        let seen = Lock((numbers: [Int](), threads: Set<ObjectIdentifier>()))
        let done = DispatchSemaphore(value: 0)
        for number in 0..<1000 {
            thread.async {
                seen.withLock { seen in
                    seen.numbers.append(number)
                    seen.threads.insert(ObjectIdentifier(Thread.current))
                }
                if number == 999 { done.signal() }
            }
        }
        done.wait()
        #expect(seen.withLock { $0.numbers } == Array(0..<1000))
        #expect(seen.withLock { $0.threads.count } == 1)
    }

    @Test func theThreadEndsAfterTheWorkOfAReleasedOne() {
        let ended = Lock(0)
        let end = DispatchSemaphore(value: 0)
        let hold = DispatchSemaphore(value: 0)
        var thread: SerialThread? = SerialThread(name: "test")
        thread?.async {
            // The dictionary and its contents are released when the thread ends.
            Thread.current.threadDictionary["end"] = AtEnd { end.signal() }
            hold.wait()
        }
        thread?.async { ended.withLock { $0 += 1 } }
        thread = nil
        hold.signal()
        end.wait()
        #expect(ended.withLock { $0 } == 1)
    }
}

/// An object that calls a closure when it is released.
private final class AtEnd: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}
