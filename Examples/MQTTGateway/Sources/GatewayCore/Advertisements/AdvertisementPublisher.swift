import AsyncBluetooth
import Foundation
import Logging

/// A publisher that scans all the time, and puts the advertised values that a rule accepts into the queue.
actor AdvertisementPublisher {
    /// The waits before a failed scan is repeated.
    static let retries: ClosedRange<Duration> = .seconds(2)...(.seconds(60))
    /// The advertisements that wait for the queue; further ones replace the oldest.
    static let bufferLimit = 256

    private let configuration: Configuration
    private let central: Central
    private let outbox: Outbox
    private let announcer: DiscoveryAnnouncer
    private let metrics: GatewayMetrics
    private let wallClock: @Sendable () -> Date
    private let logger: Logger
    private var table: AdvertiserTable
    /// Ends when the next waiting value is due.
    private var timer: Task<Void, Never>?

    /// - Parameter devices: The names of the devices that an earlier process announced to Home Assistant.
    init(
        _ configuration: Configuration, central: Central, outbox: Outbox, announcer: DiscoveryAnnouncer,
        devices: Set<String>, metrics: GatewayMetrics, wallClock: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.configuration = configuration
        self.central = central
        self.outbox = outbox
        self.announcer = announcer
        self.metrics = metrics
        self.wallClock = wallClock
        self.logger = logger
        table = AdvertiserTable(configuration.advertisements, devices: devices)
    }

    /// Runs until its task is cancelled.
    func run() async {
        defer { timer?.cancel() }
        var delay = Self.retries.lowerBound
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do {
                try await listen()
            } catch is CancellationError {
                return
            } catch {
                logger.warning("advertisements are not heard", metadata: ["error": "\(error)", "retry": "\(delay)"])
            }
            if ContinuousClock.now - start > Self.retries.upperBound { delay = Self.retries.lowerBound }
            guard (try? await Task.sleep(for: delay)) != nil else { return }
            delay = min(delay * 2, Self.retries.upperBound)
        }
    }

    private func listen() async throws {
        for try await found in central.scan(allowDuplicates: true, buffering: .newest(Self.bufferLimit)) {
            let actions = table.advertised(
                found.advertisement, address: { found.peripheral.address }, signalStrength: found.rssi, at: .now)
            if !actions.isEmpty { await perform(actions) }
            wakeWhenDue()
        }
    }

    private func wakeWhenDue() {
        guard timer == nil, let due = table.due else { return }
        timer = Task {
            do { try await Task.sleep(until: due, clock: .continuous) } catch { return }  // The gateway stops.
            timer = nil
            await perform(table.takeDue(at: .now))
            wakeWhenDue()
        }
    }

    private func perform(_ actions: [AdvertiserTable.Action]) async {
        let now = wallClock()
        metrics.setAdvertisingDevices(table.heardDevices)
        metrics.setDroppedAdvertised(table.dropped)
        for action in actions {
            switch action {
            case .publish(let reading, let device): await publish(reading, of: device, at: now)
            case .announce(let readings, let device, let rule): await announce(readings, of: device, rule)
            case .withdraw(let device): await announcer.withdraw(device)
            case .warn(let text, let device): logger.warning("\(text)", metadata: ["device": "\(device)"])
            }
        }
    }

    private func publish(_ reading: AdvertisedReading, of device: String, at now: Date) async {
        metrics.add(.received)
        let isEvent = if case .event = reading.kind { true } else { false }
        let topic = configuration.topics.value(reading.id, of: device)
        // A later subscriber must not receive an event, which is over by then.
        let message = OutgoingMessage(topic, isRetained: !isEvent, MessageBody(time: now, value: reading.value))
        do {
            // An event, such as a pressed button, is published at once.
            if isEvent { try await outbox.append(message) } else { try await outbox.accept(message) }
        } catch {
            // The queue has logged the reason.
            metrics.add(.droppedUnwritten)
        }
    }

    private func announce(_ readings: [AdvertisedReading], of device: String, _ rule: Int) async {
        do {
            let messages = try Discovery.messages(
                for: readings, device, configuration.advertisements[rule], configuration.topics)
            await announcer.add(messages)
        } catch {
            logger.error("a discovery message cannot be written", metadata: ["error": "\(error)"])
        }
    }
}
