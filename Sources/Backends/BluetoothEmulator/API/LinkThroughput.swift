import BluetoothSupport
import BluetoothValues

/// The time that a transfer takes on a link without other traffic and losses.
///
/// The links of an emulator take that time. The initializer computes the throughput of a new link from the settings of
/// a world and of a device; change the properties to compute other cases.
///
/// Source: Core Specification, Vol 6, Part B, 2.1, 2.2, 4.1.1 and 4.5.6; Vol 3, Part A, 3.1 and 3.4; Vol 3, Part F, 3.4.
public struct LinkThroughput: Hashable, Sendable {
    /// A way to transfer data.
    public enum Procedure: String, Hashable, Sendable, CaseIterable {
        /// Notifications from the peripheral.
        case notification
        /// Indications from the peripheral, each confirmed before the next.
        case indication
        /// Writes without response.
        case writeWithoutResponse
        /// Writes with response, one at a time.
        case write
        /// Reads, one at a time, of values that fit into one response.
        case read
        /// The stream of an L2CAP channel whose receiver takes the bytes at once.
        case channel
    }

    /// The physical layer.
    public var phy: PHY
    /// The longest payload of a data packet that both sides offer, 27...251 bytes.
    public var maximumDataLength: Int
    /// The time between connection events; zero means no latency.
    public var connectionInterval: Duration
    /// The part of a connection event in which packets may be sent; nil is the whole interval.
    public var connectionEventLength: Duration?
    /// The maximum number of packets in one direction in one connection event; at least 1.
    public var packetsPerConnectionEvent: Int
    /// The ATT MTU of the link, 23...517 bytes.
    public var mtu: Int
    /// Whether the link is encrypted, which adds 4 bytes to each packet with data.
    public var isEncrypted: Bool

    /// Creates the throughput of a link between a host and a device in a world with these settings.
    public init(
        _ configuration: EmulatorConfiguration = .default,
        device: PeripheralDescription = PeripheralDescription(name: ""), isEncrypted: Bool = false
    ) {
        phy = device.phy ?? configuration.phy
        maximumDataLength = min(device.maximumDataLength, configuration.maximumDataLength)
        connectionInterval = device.connectionInterval ?? configuration.connectionInterval
        connectionEventLength = device.connectionEventLength ?? configuration.connectionEventLength
        packetsPerConnectionEvent = device.packetsPerConnectionEvent ?? configuration.packetsPerConnectionEvent
        mtu = max(ATTLimits.minimumMTU, min(device.maximumMTU, configuration.maximumMTU))
        self.isEncrypted = isEncrypted
    }

    /// The payload of the data packets that the link uses, in bytes; less than the maximum if the interval is short.
    public var dataLength: Int { timing.dataLength }

    /// The number of bytes of a value that one PDU carries; for a channel, the bytes of the stream in one packet.
    public func payload(of procedure: Procedure) -> Int {
        switch procedure {
        case .notification, .indication, .writeWithoutResponse, .write:
            min(ATTLimits.longestValue, ATTLimits.written(mtu: mtu))
        // After a full response, a client requests the next part.
        case .read: min(ATTLimits.longestValue, ATTLimits.read(mtu: mtu) - 1)
        case .channel: timing.channelPayload
        }
    }

    /// The time that `bytes` take: a whole number of connection intervals.
    ///
    /// The time begins one interval before the first connection event, because a program that does not know when
    /// connection events happen waits up to one interval.
    public func duration(of bytes: Int, by procedure: Procedure) -> Duration {
        connectionInterval * max(0, connectionEvents(for: bytes, by: procedure))
    }

    /// The number of bytes that the link carries per second; infinity without a connection interval.
    public func bytesPerSecond(by procedure: Procedure) -> Double {
        let bytes = 1_000_000
        return Double(bytes) / (duration(of: bytes, by: procedure) / .seconds(1))
    }

    private func connectionEvents(for bytes: Int, by procedure: Procedure) -> Int {
        let (timing, payload) = (timing, payload(of: procedure))
        guard bytes > 0, timing.eventLength > 0 else { return 0 }
        let count = (bytes + payload - 1) / payload
        let last = bytes - (count - 1) * payload
        let overhead = procedure == .read ? 1 : ATTLimits.valueHeader
        switch procedure {
        case .write, .read, .indication:
            return (count - 1) * (1 + timing.additionalEvents(forATT: overhead + payload, isEncrypted: isEncrypted))
                + 1 + timing.additionalEvents(forATT: overhead + last, isEncrypted: isEncrypted)
        case .notification, .writeWithoutResponse:
            let header = overhead + PacketTiming.headerLength
            return events(for: count, ofLength: header + payload, last: header + last, timing)
        case .channel:
            let header = timing.dataLength - payload
            return events(for: count, ofLength: timing.dataLength, last: header + last, timing)
        }
    }

    /// The number of connection events that a sequence of PDUs takes.
    private func events(for count: Int, ofLength length: Int, last: Int, _ timing: PacketTiming) -> Int {
        var (events, event) = (1, ConnectionEventPackets())
        for number in 1...count {
            let length = number == count ? last : length
            var sent = 0
            while true {
                sent = event.send(length, from: sent, of: .attributes, by: .central, timing, isEncrypted: isEncrypted)
                if sent == length { break }
                events += 1
                event = ConnectionEventPackets()
            }
        }
        return events
    }

    private var timing: PacketTiming {
        PacketTiming(
            LinkLayerLimits(
                phy: phy, dataLength: maximumDataLength, eventLength: connectionEventLength?.nanoseconds,
                maximumPackets: packetsPerConnectionEvent),
            interval: connectionInterval.nanoseconds)
    }
}
