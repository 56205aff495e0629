import Foundation
import GatewayCore
import Logging
import Mosquitto
import Testing

/// The discovery messages and the list of them in the queue's file, without a broker.
@Suite(.timeLimit(.minutes(1))) struct DiscoveryAnnouncerTests {
    private let file =
        FileManager.default.temporaryDirectory.appending(path: "discovery-\(UUID().uuidString).sqlite").path

    @Test func aTopicIsInTheFileBeforeItsMessageIsPublished() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let configuration = try GatewayCore.Configuration(
            yaml: """
                gateway: test
                broker: { host: 127.0.0.1 }
                queue: { file: \(file) }
                devices: []
                advertisements:
                  - { id: any, format: bthome, devices: 4 }
                """, file: "test.yaml")
        let store = try MessageStore(configuration.queue, logger: logger)
        let announcer = DiscoveryAnnouncer(configuration, store: store, logger: logger) { _ in
            throw MosquittoError("the gateway ends here")
        }
        try await announcer.announce()
        let topic = "homeassistant/sensor/test_any-c0000000ad01/temperature/config"
        await announcer.add([MQTTMessage(topic, "{}", isRetained: true)])
        #expect(try await store.announcedTopics() == [topic])
        try store.close()
        try FileManager.default.removeItem(atPath: file)
    }
}
