import Foundation
import Mosquitto
import Synchronization

/// A subscriber that counts the numbered values of all gateways.
final class Observer: Sendable {
    /// The values of one device in one process.
    struct Series: Hashable {
        var gateway: String
        var process: UInt32
        var device: String
    }

    /// The received messages of a series.
    struct Received {
        /// The numbers, each with the identifier of its message.
        var identifiers: [UInt32: String] = [:]
        /// The number of second deliveries, which had the identifier of the first.
        var duplicates = 0
        /// The number of second messages of one value, with another identifier.
        var repeated = 0
    }

    private static let marker = "scale-observer"

    private struct Content: Decodable {
        var id: String
        var value: UInt64
    }

    private struct State {
        var series: [Series: Received] = [:]
        var messages = 0
        var malformed = 0
    }

    private let client: MosquittoClient
    private let state = Mutex(State())
    private let (ready, readySink) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Connects with a session that the broker keeps, so that messages in the subscriber's absence are not lost.
    init(port: UInt16) throws {
        var settings = BrokerSettings(host: "127.0.0.1", port: port, clientID: "gateway-scale-observer")
        settings.cleanSession = false
        settings.messageLimit = 1_000_000
        client = try MosquittoClient(settings)
    }

    /// Counts until ``stop()``.
    func run() async {
        client.start()
        await withTaskGroup { group in
            group.addTask { [client] in
                for await event in client.events where event == .connected {
                    do {
                        try client.subscribe(to: "scale/+/+/sequence")
                        // The message arrives once the broker has both subscriptions.
                        try client.subscribe(to: Self.marker)
                        try client.publish(MQTTMessage(Self.marker, ""))
                    } catch {
                        FileHandle.standardError.write(Data("the observer cannot subscribe: \(error)\n".utf8))
                    }
                }
            }
            group.addTask { [self] in
                let decoder = JSONDecoder()
                for await message in client.messages where !message.isRetained {
                    if message.topic == Self.marker { readySink.yield() } else { count(message, decoder) }
                }
            }
        }
    }

    /// Waits until the broker has the subscription.
    func subscribed() async { for await _ in ready { return } }

    func stop() { client.stop() }

    private func count(_ message: MQTTMessage, _ decoder: JSONDecoder) {
        let levels = message.topic.split(separator: "/").map(String.init)
        guard levels.count == 4, let content = try? decoder.decode(Content.self, from: message.payload) else {
            return state.withLock { $0.malformed += 1 }
        }
        let series = Series(gateway: levels[1], process: UInt32(content.value >> 32), device: levels[2])
        let number = UInt32(truncatingIfNeeded: content.value)
        state.withLock { state in
            state.messages += 1
            var received = state.series[series, default: Received()]
            if let identifier = received.identifiers.updateValue(content.id, forKey: number) {
                if identifier == content.id { received.duplicates += 1 } else { received.repeated += 1 }
            }
            state.series[series] = received
        }
    }

    /// The number of received messages, including those that are malformed or were dropped.
    var messages: Int { state.withLock { $0.messages + $0.malformed } + client.droppedMessages }
    /// The number of messages that no gateway sent, or that were dropped.
    var faults: Int { state.withLock { $0.malformed } + client.droppedMessages }
    /// The received messages of each series.
    var series: [Series: Received] { state.withLock { $0.series } }
}
