package import Logging
package import Mosquitto

/// A publisher of the discovery messages of Home Assistant, which also withdraws outdated ones.
///
/// The broker keeps the messages, and the queue's file lists them. A topic is in the file before its message is
/// published, and until its message is withdrawn, so that a gateway that ends in between forgets none.
package actor DiscoveryAnnouncer {
    private let configuration: Configuration
    private let store: MessageStore
    private let publish: @Sendable (MQTTMessage) throws -> Void
    private let logger: Logger
    /// The messages of devices that advertise, by topic.
    private var advertised: [String: MQTTMessage] = [:]
    /// The devices that advertised, and whose messages are to be withdrawn.
    private var withdrawn: Set<String> = []
    /// The topics of the messages that the broker keeps; nil until they are read.
    private var announced: Set<String>?
    /// Whether the broker is connected; otherwise the next connection publishes everything.
    private var isPublishing = false

    /// - Parameter publish: Passes a message to the client.
    package init(
        _ configuration: Configuration, store: MessageStore, logger: Logger,
        publish: @escaping @Sendable (MQTTMessage) throws -> Void
    ) {
        self.configuration = configuration
        self.store = store
        self.logger = logger
        self.publish = publish
    }

    /// Returns the names of the devices that an earlier process announced to Home Assistant, and whose rule still
    /// exists.
    static func devices(_ configuration: Configuration, in store: MessageStore) async throws -> Set<String> {
        let devices = try await store.announcedTopics().compactMap(configuration.topics.device(inDiscovery:))
        return Set(devices.filter(configuration.isAdvertiser))
    }

    /// Publishes all messages, after a connection to the broker or a start of Home Assistant.
    package func announce() async throws {
        let configured = try Discovery.messages(for: configuration)
        try await save(announcedTopics().union(configured.map(\.topic)).union(advertised.keys))
        isPublishing = true
        let announced = announced ?? []
        let messages = configured + advertised.sorted { $0.key < $1.key }.map(\.value)
        // A device that advertises may not have been heard yet: its messages stay.
        let kept = announced.filter { topic in
            configuration.topics.device(inDiscovery: topic).map {
                configuration.isAdvertiser($0) && !withdrawn.contains($0)
            } ?? false
        }
        let topics = kept.union(messages.map(\.topic))
        for topic in announced.subtracting(topics).sorted() { try publish(MQTTMessage(topic, "", isRetained: true)) }
        for message in messages { try publish(message) }
        withdrawn = []
        try await save(topics)
    }

    private func announcedTopics() async throws -> Set<String> {
        if let announced { return announced }
        let stored = try await store.announcedTopics()
        announced = announced ?? stored
        return announced ?? stored
    }

    private func save(_ topics: Set<String>) async throws {
        guard announced != topics else { return }
        announced = topics
        try await store.setAnnouncedTopics(topics)
    }

    /// Stops publishing, because the broker is disconnected.
    func pause() { isPublishing = false }

    /// Adds messages of a device that advertises.
    package func add(_ messages: [MQTTMessage]) async {
        for message in messages { advertised[message.topic] = message }
        await update(publishing: messages)
    }

    /// Withdraws the messages of a device that advertised.
    func withdraw(_ device: String) async {
        withdrawn.insert(device)
        advertised = advertised.filter { configuration.topics.device(inDiscovery: $0.key) != device }
        await update(publishing: [])
    }

    /// Publishes messages and withdraws those of silent devices, if the broker is connected.
    private func update(publishing messages: [MQTTMessage]) async {
        guard isPublishing else { return }
        do {
            try await save(announcedTopics().union(messages.map(\.topic)))
            try messages.forEach(publish)
            let announced = announced ?? []
            let gone = announced.filter { topic in
                configuration.topics.device(inDiscovery: topic).map(withdrawn.contains) ?? false
            }
            for topic in gone.sorted() { try publish(MQTTMessage(topic, "", isRetained: true)) }
            withdrawn = []
            try await save(announced.subtracting(gone))
        } catch {
            logger.error("a discovery message cannot be published", metadata: ["error": "\(error)"])
        }
    }
}

extension Configuration {
    /// Whether a name in topics is that of a device that a rule accepts.
    fileprivate func isAdvertiser(_ device: String) -> Bool { advertisements.contains { $0.isName(device) } }
}
