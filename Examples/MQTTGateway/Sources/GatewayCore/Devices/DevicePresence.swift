import Logging
import Mosquitto

/// The connection states of devices, and the messages that report them.
actor DevicePresence {
    private let topics: Topics
    private let publish: @Sendable (MQTTMessage) throws -> Void
    private let metrics: GatewayMetrics
    private let logger: Logger
    private var isConnected: [String: Bool]
    /// Whether the broker is connected; otherwise the next connection publishes everything.
    private var isPublishing = false

    /// - Parameter publish: Passes a message to the client.
    init(
        _ devices: [DeviceConfiguration], _ topics: Topics, metrics: GatewayMetrics, logger: Logger,
        publish: @escaping @Sendable (MQTTMessage) throws -> Void
    ) {
        self.topics = topics
        self.publish = publish
        self.metrics = metrics
        self.logger = logger
        isConnected = Dictionary(uniqueKeysWithValues: devices.map { ($0.id, false) })
    }

    /// Records whether a device is connected; a repetition changes nothing.
    func set(_ device: String, isConnected connected: Bool) {
        guard isConnected.updateValue(connected, forKey: device) != connected else { return }
        metrics.setConnected(connected, device: device)
        logger.info("\(connected ? "connected" : "not connected")", metadata: ["device": "\(device)"])
        if isPublishing { publishStatus(of: device, connected) }
    }

    /// Publishes the status of all devices, because the broker is connected.
    func begin() {
        isPublishing = true
        for (device, connected) in isConnected.sorted(by: { $0.key < $1.key }) { publishStatus(of: device, connected) }
    }

    /// Stops publishing, because the broker is disconnected.
    func pause() { isPublishing = false }

    private func publishStatus(of device: String, _ connected: Bool) {
        do {
            try publish(MQTTMessage(topics.status(of: device), connected ? "online" : "offline", isRetained: true))
        } catch {
            logger.error("a status cannot be published", metadata: ["device": "\(device)", "error": "\(error)"])
        }
    }
}
