#if os(Linux)
import BluetoothSupport
import Dispatch
import ScriptedBlueZ
import Testing

@testable import BluetoothDBus

/// Messages that outlive their connection: libdbus calls back when they are released.
@Suite struct ConnectionCallbacksTests {
    /// Messages that are kept after their handler has returned.
    private final class HeldMessages: Sendable {
        private let messages = LockedState<[DBusMessage]>([])

        /// Keeps a message, and returns the number of all.
        func add(_ message: DBusMessage) -> Int {
            messages.withLock { messages in
                messages.append(message)
                return messages.count
            }
        }

        /// Releases one message, on this thread.
        func releaseOne() { _ = messages.withLock { $0.popLast() } }
    }

    private let bus: PrivateBus
    private let service: ScriptedService

    init() throws {
        bus = try PrivateBus()
        service = try ScriptedService(on: bus)
    }

    /// Receives messages of one megabyte.
    private func receive(atLeast count: Int, of all: Int, on connection: DBusConnection) async throws -> HeldMessages {
        let held = HeldMessages()
        let heard = Recorder<Int>()
        let added = Recorder<Bool>()
        let rule = DBusMatchRule(member: "Big")
        let subscription = connection.subscribe(rule) { message in
            heard.append(held.add(message))
        } completion: { _ in
            added.append(true)
        }
        try await added.wait { !$0.isEmpty }
        let text = String(repeating: "x", count: 1 << 20)
        for _ in 0..<all { service.emit("/big", "org.example.Test", "Big", [.string(text)]) }
        try await heard.wait { $0.count >= count }
        subscription.cancel()
        return held
    }

    /// Waits for the work on the queue of a released connection, after which nothing retains its callbacks.
    private func expectEnd(of callbacks: () -> ConnectionCallbacks?, after queue: DispatchQueue) async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        #expect(callbacks() == nil)
    }

    @Test func theCallbacksEndWithTheConnectionThoughItsMessagesAreHeld() async throws {
        var connection: DBusConnection? = try await bus.connect()
        weak var callbacks: ConnectionCallbacks?
        callbacks = connection?.core.callbacks
        let queue = try #require(connection?.core.queue)
        let held = try await receive(atLeast: 1, of: 1, on: try #require(connection))
        #expect(callbacks != nil)
        connection = nil
        await expectEnd(of: { callbacks }, after: queue)
        held.releaseOne()
    }

    @Test func messagesMayBeReleasedOnManyThreadsWhileTheConnectionCloses() async throws {
        // libdbus stops reading while 63 MB of messages are alive, and goes on when one is released.
        let (all, enough) = (80, 62)
        weak var callbacks: ConnectionCallbacks?
        let held: HeldMessages
        let queue: DispatchQueue
        do {
            let connection = try await bus.connect()
            callbacks = connection.core.callbacks
            queue = connection.core.queue
            held = try await receive(atLeast: enough, of: all, on: connection)
            DispatchQueue.concurrentPerform(iterations: enough / 2) { iteration in
                if iteration == enough / 4 { connection.close() }
                held.releaseOne()
            }
        }
        await expectEnd(of: { callbacks }, after: queue)
        for _ in 0..<all { held.releaseOne() }
    }
}
#endif
