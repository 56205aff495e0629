import Foundation
import Mosquitto
import Synchronization

/// A subscriber of a test, which stores all messages.
final class Listener: Sendable {
    private struct State {
        var messages: [MQTTMessage] = []
        var isSubscribed = false
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
    }

    let client: MosquittoClient
    private let state = Mutex(State())

    /// Connects, and subscribes to everything.
    ///
    /// - Parameter name: The name of a session that the broker keeps; nil for a new one.
    init(port: UInt16, name: String? = nil) throws {
        var settings = BrokerSettings(host: "127.0.0.1", port: port, clientID: name ?? "listener-\(UUID().uuidString)")
        settings.cleanSession = name == nil
        settings.messageLimit = 100_000
        client = try MosquittoClient(settings)
    }

    /// Runs a test's body while the subscriber is connected.
    func listening(_ body: @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await event in client.events where event == .connected {
                    try client.subscribe(to: "#")
                    // The subscriber receives its own message once it is subscribed.
                    try client.publish(MQTTMessage("listener/\(UUID().uuidString)", ""))
                }
            }
            group.addTask { [self] in for await message in client.messages { add(message) } }
            client.start()
            defer { client.stop() }
            try await until { $0.contains { $0.topic.hasPrefix("listener/") } }
            try await body()
            client.stop()
        }
    }

    private func add(_ message: MQTTMessage) {
        let watchers = state.withLock { state in
            state.messages.append(message)
            return state.watchers.values.map(\.self)
        }
        for watcher in watchers { watcher.yield() }
    }

    /// All messages so far.
    var messages: [MQTTMessage] { state.withLock { $0.messages } }

    /// The messages so far of one topic.
    func messages(of topic: String) -> [MQTTMessage] { messages.filter { $0.topic == topic } }

    /// Waits until the messages meet a condition.
    ///
    /// - Throws: `CancellationError` at the time limit of the test.
    func until(_ isDone: @Sendable ([MQTTMessage]) -> Bool) async throws {
        let (changes, watcher) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.next += 1
            state.watchers[state.next] = watcher
            return state.next
        }
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: number) } }
        watcher.yield()
        for await _ in changes where isDone(messages) { return }
        throw CancellationError()
    }

    /// Waits for a message.
    @discardableResult
    func first(
        _ topic: String, where isWanted: @Sendable (MQTTMessage) -> Bool = { _ in true }
    ) async throws -> MQTTMessage {
        try await until { $0.contains { $0.topic == topic && isWanted($0) } }
        guard let found = messages.first(where: { $0.topic == topic && isWanted($0) }) else {
            throw CancellationError()
        }
        return found
    }
}

extension MosquittoClient {
    /// Returns the first event of a new client; nil if it ended without one.
    static func firstEvent(_ settings: BrokerSettings) async throws -> MQTTEvent? {
        let client = try MosquittoClient(settings)
        client.start()
        defer { client.stop() }
        for await event in client.events { return event }
        return nil
    }

    /// Waits until the thread has completed a number of rounds.
    ///
    /// - Throws: `CancellationError` at the time limit of the test.
    func rounds(_ count: Int) async throws {
        while loops < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// The content of a message with a value or a result.
struct Content: Decodable, Equatable {
    var id: String
    var value: UInt64?
    var ok: Bool?
    var error: String?

    init(_ message: MQTTMessage) throws { self = try JSONDecoder().decode(Content.self, from: message.payload) }

    /// The number of a value of a `SequenceDevice`.
    var number: Int { Int(truncatingIfNeeded: (value ?? 0) & 0xFFFF_FFFF) }
    /// The process of such a value.
    var process: Int { Int(truncatingIfNeeded: (value ?? 0) >> 32) }
}
