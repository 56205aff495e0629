import AsyncBluetooth
package import CoreBluetooth
import Foundation
package import Logging
import Mosquitto

/// The whole gateway: devices, queue, broker, metrics and watchdog.
package struct Gateway: Sendable {
    /// The time limits for the parts of a clean stop.
    static let stopLimits = (queue: Duration.seconds(3), connection: Duration.seconds(2))

    package let metrics = GatewayMetrics()
    private let configuration: Configuration
    private let backend: CBBackendSelection?
    private let notifier: SystemdNotifier
    private let wallClock: @Sendable () -> Date
    private let logger: Logger

    /// - Parameters:
    ///   - backend: The Bluetooth backend; nil for the one that the environment selects.
    ///   - environment: The variables of systemd.
    ///   - wallClock: The time of messages; nothing else depends on it.
    package init(
        _ configuration: Configuration, backend: CBBackendSelection? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        wallClock: @escaping @Sendable () -> Date = { Date() }, logger: Logger
    ) {
        self.wallClock = wallClock
        self.configuration = configuration
        self.backend = backend
        self.logger = logger
        notifier = SystemdNotifier(environment: environment, logger: logger)
    }

    /// Runs until `stop` has an element, or ends; then stops cleanly.
    ///
    /// - Throws: An error if the queue cannot be opened, the settings of the broker are refused, or the port of the
    ///   metrics is taken.
    package func run<Stop: AsyncSequence & Sendable>(until stop: Stop) async throws where Stop.Failure == Never {
        let store = try MessageStore(configuration.queue, logger: logger)
        var broker = configuration.broker
        broker.will = MQTTMessage(configuration.topics.status, "offline", isRetained: true)
        let client = try MosquittoClient(broker)
        let outbox = try Outbox(store, window: broker.window, metrics: metrics, logger: logger) { message in
            try client.publish(MQTTMessage(message.topic, message.payload, isRetained: message.isRetained))
        }
        let parts = parts(client, outbox, store, try await DiscoveryAnnouncer.devices(configuration, in: store))
        // This function owns the task: it closes the outbox and stops the client, and then awaits both.
        let writing = Task { await outbox.run() }
        let linking = Task { await parts.link.run() }
        client.start()

        let failure = await serve(parts, until: stop)
        notifier.notify("STOPPING=1")
        await parts.link.end(within: Self.stopLimits.queue)
        client.stop(within: Self.stopLimits.connection)
        await linking.value
        await outbox.close()
        await writing.value
        try store.close()
        logger.notice("stopped", metadata: ["queued": "\(metrics.queueRows)"])
        if let failure { throw failure }
    }

    // MARK: Parts

    private struct Parts: Sendable {
        let link: BrokerLink
        let sessions: [DeviceSession]
        /// The publisher of advertisements; nil without rules, so that nothing scans all the time.
        let advertisements: AdvertisementPublisher?
        let watchdog: Watchdog
        /// The executor of the Bluetooth callbacks, on which devices are served: a value then changes threads once less.
        let executor: QueueExecutor
    }

    /// - Parameter devices: The names of the devices that advertise, and that Home Assistant knows.
    private func parts(
        _ client: MosquittoClient, _ outbox: Outbox, _ store: MessageStore, _ devices: Set<String>
    ) -> Parts {
        let topics = configuration.topics
        let presence = DevicePresence(configuration.devices, topics, metrics: metrics, logger: logger) { message in
            try client.publish(message)
        }
        let commands = CommandQueues(configuration.devices)
        let gate = CommandGate(configuration.devices, logger: logger)
        let results = CommandResults(topics: topics, outbox: outbox, gate: gate, metrics: metrics, wallClock: wallClock)
        let announcer = DiscoveryAnnouncer(configuration, store: store, logger: logger) { try client.publish($0) }
        let link = BrokerLink(
            client: client, configuration: configuration, outbox: outbox, announcer: announcer, presence: presence,
            commands: commands, gate: gate, results: results, metrics: metrics, logger: logger)
        let central = Central(
            backend: backend,
            settings: .init(logger: logger, connectTimeout: .seconds(120), operationTimeout: .seconds(150)))
        let sessions = configuration.devices.map { device in
            var logger = logger
            logger[metadataKey: "device"] = "\(device.id)"
            return DeviceSession(
                device: device, central: central, presence: presence,
                values: ValuePublisher(device, topics, outbox, metrics: metrics, wallClock: wallClock, logger: logger),
                commands: CommandRunner(device, commands.commands(of: device.id), results), logger: logger)
        }
        let watchdog = Watchdog(notifier: notifier, store: store, client: client, logger: logger)
        let advertisements = AdvertisementPublisher(
            configuration, central: central, outbox: outbox, announcer: announcer, devices: devices, metrics: metrics,
            wallClock: wallClock, logger: logger)
        return Parts(
            link: link, sessions: sessions, advertisements: configuration.advertisements.isEmpty ? nil : advertisements,
            watchdog: watchdog, executor: central.executor)
    }

    /// Runs the devices until it is time to stop.
    ///
    /// - Returns: The error of a part that the gateway needs to run.
    private func serve<Stop: AsyncSequence & Sendable>(
        _ parts: Parts, until stop: Stop
    ) async -> (any Error)? where Stop.Failure == Never {
        await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                for await _ in stop { break }
                return nil
            }
            if let port = configuration.metricsPort {
                group.addTask { [metrics] in
                    do {
                        try await MetricsServer(port: port, metrics: metrics).run()
                        return nil
                    } catch is CancellationError {
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            if notifier.watchdogInterval != nil {
                group.addTask {
                    await parts.watchdog.run()
                    return nil
                }
            }
            group.addTask(executorPreference: parts.executor) {
                await withTaskGroup { group in
                    for session in parts.sessions { group.addTask { await session.run() } }
                    if let advertisements = parts.advertisements { group.addTask { await advertisements.run() } }
                }
                return nil
            }
            notifier.notify("READY=1")
            let counts = (configuration.devices.count, configuration.advertisements.count)
            logger.notice("started", metadata: ["devices": "\(counts.0)", "rules": "\(counts.1)"])
            let failure = await group.next() ?? nil
            group.cancelAll()
            return failure
        }
    }
}
