import BluetoothSupport

/// The lengths of a link's data packets, and the number of packets that fit into one connection event.
///
/// Without a connection interval, packets take no air time, and each PDU is one packet.
struct PacketTiming: Hashable, Sendable {
    /// The pause between two packets of a connection event (Core Specification, Vol 6, Part B, 4.1.1).
    static let interFrameSpace: Nanoseconds = 150_000
    /// The length of the header of an L2CAP PDU, in bytes.
    static let headerLength = 4
    /// The length of the MIC that encryption adds to a packet with data, in bytes.
    static let micLength = 4
    /// The payload of a data packet, in bytes: the minimum, and the maximum with the data length extension.
    static let dataLengths = 27...251

    let phy: PHY
    /// The longest payload of a packet, in bytes.
    let dataLength: Int
    /// The time that a connection event has for packets; zero without a connection interval.
    let eventLength: Nanoseconds
    /// The maximum number of packets in one direction in one connection event; at least 1.
    let maximumPackets: Int

    /// The bytes of an L2CAP channel's stream in a packet, without the headers of the K-frame and of its SDU.
    ///
    /// Source: Core Specification, Vol 3, Part A, 3.4.
    var channelPayload: Int { dataLength - Self.headerLength - 2 }

    /// Returns the air time of a packet with data.
    func airTime(of length: Int, isEncrypted: Bool) -> Nanoseconds {
        phy.nanoseconds(ofPayload: length + (isEncrypted ? Self.micLength : 0))
    }

    /// Returns the number of additional connection events that a lone ATT PDU takes; 0 if it fits into one.
    func additionalEvents(forATT length: Int, isEncrypted: Bool) -> Int {
        let length = length + Self.headerLength
        guard eventLength > 0, length > dataLength else { return 0 }
        var (events, sent) = (0, 0)
        while true {
            var event = ConnectionEventPackets()
            sent = event.send(length, from: sent, of: .attributes, by: .central, self, isEncrypted: isEncrypted)
            if sent >= length { return events }
            events += 1
        }
    }
}

extension PacketTiming {
    /// Computes the packets of a link from the limits of host and device and from the interval.
    init(_ limits: LinkLayerLimits, interval: Nanoseconds) {
        phy = limits.phy
        maximumPackets = max(1, limits.maximumPackets)
        eventLength = min(interval, max(1, limits.eventLength ?? interval))
        // Each side may answer with an equally long packet in the same interval (Core Specification, Vol 6, Part B,
        // 4.5.10).
        let phy = limits.phy
        let wanted = min(max(limits.dataLength, Self.dataLengths.lowerBound), Self.dataLengths.upperBound)
        func fits(_ length: Int) -> Bool {
            2 * (phy.nanoseconds(ofPayload: length + Self.micLength) + Self.interFrameSpace) <= interval
        }
        dataLength =
            interval == 0 || fits(wanted)
            ? wanted
            : (Self.dataLengths.lowerBound...wanted).last(where: fits) ?? Self.dataLengths.lowerBound
    }
}

/// The limits that host and device set for a link.
struct LinkLayerLimits: Hashable, Sendable {
    let phy: PHY
    /// The longest payload of a data packet, in bytes.
    let dataLength: Int
    /// The time of a connection event for packets; nil is the whole interval.
    let eventLength: Nanoseconds?
    /// The maximum number of packets in one direction in one connection event.
    let maximumPackets: Int
}

extension LinkLayerLimits {
    init(_ configuration: EmulatorConfiguration, _ device: PeripheralDescription) {
        phy = device.phy ?? configuration.phy
        dataLength = min(device.maximumDataLength, configuration.maximumDataLength)
        eventLength = (device.connectionEventLength ?? configuration.connectionEventLength)?.nanoseconds
        maximumPackets = device.packetsPerConnectionEvent ?? configuration.packetsPerConnectionEvent
    }
}
