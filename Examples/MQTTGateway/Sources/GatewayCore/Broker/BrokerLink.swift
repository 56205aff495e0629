import Foundation
import Logging
import Mosquitto

/// The gateway's use of the broker: it announces itself, follows the connection, and accepts commands.
struct BrokerLink: Sendable {
    let client: MosquittoClient
    let configuration: Configuration
    let outbox: Outbox
    let announcer: DiscoveryAnnouncer
    let presence: DevicePresence
    let commands: CommandQueues
    let gate: CommandGate
    let results: CommandResults
    let metrics: GatewayMetrics
    let logger: Logger

    private var topics: Topics { configuration.topics }

    /// Runs until the client is stopped.
    func run() async {
        await withTaskGroup { group in
            group.addTask { await followConnection() }
            group.addTask { for await message in client.messages { await received(message) } }
        }
    }

    // MARK: The connection

    private func followConnection() async {
        var isReported = false
        for await event in client.events {
            switch event {
            case .acknowledged(let packets): await outbox.acknowledged(packets)
            case .connected:
                isReported = false
                await begin()
            case .disconnected(let error):
                metrics.setBrokerConnected(false)
                await outbox.setConnected(false)
                await presence.pause()
                await announcer.pause()
                // Logged once until the next connection, however many attempts fail.
                if !isReported { logger.warning("no broker", metadata: ["error": "\(error)"]) }
                isReported = true
            }
        }
    }

    private func begin() async {
        logger.notice("connected to the broker", metadata: ["host": "\(configuration.broker.host)"])
        metrics.add(.connections)
        metrics.setBrokerConnected(true)
        do {
            try client.subscribe(to: topics.commands)
            if let status = topics.homeAssistantStatus { try client.subscribe(to: status) }
            try await announcer.announce()
            try client.publish(MQTTMessage(topics.status, "online", isRetained: true))
        } catch {
            logger.error("the gateway cannot announce itself", metadata: ["error": "\(error)"])
        }
        await presence.begin()
        await outbox.setConnected(true)
    }

    // MARK: Messages

    private func received(_ message: MQTTMessage) async {
        if message.topic == topics.homeAssistantStatus {
            // Home Assistant has started, and knows only the retained messages; a retained message of Home Assistant is
            // old.
            guard message.text == "online", !message.isRetained else { return }
            guard gate.admitsAnnouncement() else {
                gate.log(.warning, "Home Assistant starts too often: discovery is not published again", kind: "", [:])
                return
            }
            do {
                try await announcer.announce()
            } catch {
                logger.error("discovery messages cannot be published", metadata: ["error": "\(error)"])
            }
            return
        }
        guard let (device, name) = topics.command(in: message.topic) else { return }
        guard let command = commands.configuration(name, of: device) else {
            metrics.add(.commandsRefused)
            // The topic is untrusted: it is logged, and not answered.
            gate.log(.warning, "no such command", kind: "", ["topic": "\(message.topic.prefix(256))"])
            return
        }
        guard gate.admitsCommand(of: device) else { return await refuse(name, of: device) }
        do {
            guard !message.isRetained else { throw CommandError("a retained command may be old") }
            try commands.submit(message.payload, to: command, of: device)
        } catch {
            await results.publish("\(error)", of: name, device: device)
        }
    }

    /// Refuses a command that arrives too soon after others; only the first of them gets a result.
    private func refuse(_ command: String, of device: String) async {
        let isFirst = gate.log(
            .warning, "commands come too fast, and are dropped", kind: device, ["device": "\(device)"])
        guard isFirst else { return metrics.add(.commandsRefused) }
        await results.publish("commands come too fast", of: command, device: device)
    }

    // MARK: The end

    /// Announces that the gateway is offline, waits for the broker's acknowledgements, and disconnects.
    ///
    /// - Parameter limit: The longest wait for the queue; the next process sends what remains in it.
    func end(within limit: Duration) async {
        do {
            try client.unsubscribe(from: topics.commands)
            if let status = topics.homeAssistantStatus { try client.unsubscribe(from: status) }
        } catch {
            // Without a connection no subscription exists either.
            logger.debug("not unsubscribed", metadata: ["error": "\(error)"])
        }
        let deadline = ContinuousClock.now + limit
        while metrics.isBrokerConnected, await !outbox.isEmpty, ContinuousClock.now < deadline {
            // If the task is cancelled, the wait ends with the deadline at the latest.
            try? await Task.sleep(for: .milliseconds(20))
        }
        if metrics.isBrokerConnected {
            do {
                try client.publish(MQTTMessage(topics.status, "offline", isRetained: true))
            } catch {
                logger.warning("the gateway's status cannot be published", metadata: ["error": "\(error)"])
            }
        }
    }
}
