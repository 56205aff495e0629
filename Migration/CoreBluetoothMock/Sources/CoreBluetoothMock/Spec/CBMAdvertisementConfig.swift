import Foundation

/// One advertising set of a peripheral: its contents, and its interval.
public struct CBMAdvertisementConfig: Hashable, @unchecked Sendable {
    // Invariant of Sendable: the dictionary has values of property lists and UUIDs, which are immutable.

    /// The contents of a packet, by `CBMAdvertisementData…` keys; other keys are passed on to `didDiscover`.
    ///
    /// Without `CBMAdvertisementDataIsConnectable`, a central does not connect in response to it.
    public let data: [String: Any]
    /// The time between two packets, in seconds; 0 sends one packet after ``delay``.
    public let interval: TimeInterval
    /// The time from the beginning of the simulation to the first packet, in seconds.
    public let delay: TimeInterval
    /// Whether it continues while a central is connected.
    public let isAdvertisingWhenConnected: Bool

    private let identifier = UUID()

    /// Describes an advertising set.
    ///
    /// - Parameters:
    ///   - data: The contents of a packet.
    ///   - interval: The time between two packets, in seconds. Between 0 and 20 ms, 20 ms is taken; 0 sends one packet
    ///     after the delay, and nothing without a delay.
    ///   - delay: The time to the first packet, in seconds.
    ///   - isAdvertisingWhenConnected: Whether it continues while a central is connected.
    public init(
        data: [String: Any], interval: TimeInterval, delay: TimeInterval = 0.0,
        isAdvertisingWhenConnected: Bool = false
    ) {
        self.data = data
        self.interval = interval
        self.delay = delay
        self.isAdvertisingWhenConnected = isAdvertisingWhenConnected
    }

    /// Whether both are copies of one set.
    public static func == (left: Self, right: Self) -> Bool { left.identifier == right.identifier }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
