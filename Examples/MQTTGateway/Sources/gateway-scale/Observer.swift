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

    /// What was received of a series.
    struct Received {
        /// Each number, with the identifier of its message.
        var identifiers: [UInt32: String] = [:]
        /// Second deliveries, which had the identifier of the first.
        var duplicates = 0
        /// Second messages of one number: another identifier.
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

    /// The broker keeps this subscriber's session, and so what arrives while it is away.
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
                        // It comes back once the broker has both subscriptions.
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

    /// How many messages were received, those included that are malformed or were dropped.
    var messages: Int { state.withLock { $0.messages + $0.malformed } + client.droppedMessages }
    /// Messages that are none of a gateway, or for which there was no room.
    var faults: Int { state.withLock { $0.malformed } + client.droppedMessages }
    /// What was received of each series.
    var series: [Series: Received] { state.withLock { $0.series } }
}
