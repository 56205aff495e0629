import AsyncBluetooth
import Foundation
import Logging
import Synchronization

/// The conversion of a device's bytes to messages of the queue.
final class ValuePublisher: Sendable {
    private let device: DeviceConfiguration
    private let topics: Topics
    private let outbox: Outbox
    private let metrics: GatewayMetrics
    private let wallClock: @Sendable () -> Date
    private let logger: Logger
    private let state = Mutex(State())

    private struct State {
        /// The time at which each value was last published, for its minimum interval.
        var published: [String: ContinuousClock.Instant] = [:]
        /// The values whose bytes were malformed, each of which is logged once until it is valid again.
        var malformed: Set<String> = []
    }

    init(
        _ device: DeviceConfiguration, _ topics: Topics, _ outbox: Outbox, metrics: GatewayMetrics,
        wallClock: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.wallClock = wallClock
        self.device = device
        self.topics = topics
        self.outbox = outbox
        self.metrics = metrics
        self.logger = logger
    }

    /// Puts the values of a characteristic into the queue; returns when it has accepted them.
    func publish(_ data: Data, of characteristic: CharacteristicID, _ source: ValueConfiguration.Source) async {
        metrics.add(.received)
        let now = wallClock()
        for value in device.values where value.characteristic == characteristic && value.source == source {
            guard isDue(value) else {
                metrics.add(.droppedInterval)
                continue
            }
            guard let measured = decode(data, value) else { continue }
            let topic = topics.value(value.id, of: device.id)
            do {
                try await outbox.accept(
                    OutgoingMessage(topic, isRetained: true, MessageBody(time: now, value: measured)))
            } catch {
                // The gateway is stopping.
                metrics.add(.droppedUnwritten)
            }
        }
    }

    /// Counts values that a slow queue lost; the library has logged the first.
    func countDropped(_ number: Int) { metrics.add(.droppedSlow, number) }

    private func isDue(_ value: ValueConfiguration) -> Bool {
        guard let interval = value.minimumInterval else { return true }
        let now = ContinuousClock.now
        return state.withLock { state in
            if let last = state.published[value.id], now - last < interval { return false }
            state.published[value.id] = now
            return true
        }
    }

    private func decode(_ data: Data, _ value: ValueConfiguration) -> MeasuredValue? {
        do {
            let measured = try value.format.decode(data)
            state.withLock { _ = $0.malformed.remove(value.id) }
            return measured
        } catch {
            metrics.add(.droppedMalformed)
            if state.withLock({ $0.malformed.insert(value.id).inserted }) {
                logger.warning(
                    "a value does not fit its format", metadata: ["value": "\(value.id)", "error": "\(error)"])
            }
            return nil
        }
    }
}
