import Logging
import Synchronization

/// The limits on the actions and log lines that clients of the broker can cause.
final class CommandGate: Sendable {
    /// The limit of a device's commands; the interval is that of the next one after a burst.
    static let commands = (burst: 20, interval: Duration.milliseconds(200))
    /// The limit of the publications of the discovery messages after a start of Home Assistant.
    static let announcements = (burst: 3, interval: Duration.seconds(10))

    private struct State {
        var devices: [String: RateLimit]
        var announcements = RateLimit(
            burst: CommandGate.announcements.burst, interval: CommandGate.announcements.interval)
        var log = PeriodicLog()
    }

    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    init(
        _ devices: [DeviceConfiguration], logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        let limit = RateLimit(burst: Self.commands.burst, interval: Self.commands.interval)
        state = Mutex(State(devices: Dictionary(uniqueKeysWithValues: devices.map { ($0.id, limit) })))
        self.logger = logger
        self.now = now
    }

    /// Returns whether a command of a device is allowed now.
    func admitsCommand(of device: String) -> Bool {
        state.withLock { $0.devices[device]?.admits(at: now()) ?? false }
    }

    /// Returns whether the discovery messages may be published again now.
    func admitsAnnouncement() -> Bool { state.withLock { $0.announcements.admits(at: now()) } }

    /// Writes a log line, at most one of each kind in a ``PeriodicLog/period``.
    ///
    /// - Parameter kind: Names of the configuration, or a constant, so that the number of kinds is bounded.
    /// - Returns: Whether the line was written.
    @discardableResult
    func log(_ level: Logger.Level, _ text: String, kind: String, _ metadata: Logger.Metadata) -> Bool {
        guard let omitted = state.withLock({ $0.log.omitted("\(text)/\(kind)", at: now()) }) else { return false }
        var metadata = metadata
        if omitted > 0 { metadata["omitted"] = "\(omitted)" }
        logger.log(level: level, "\(text)", metadata: metadata)
        return true
    }
}
