/// How long the data packets of a link are and how many go in one connection event.
///
/// Without a connection interval there is no air time: each PDU is one packet.
struct PacketTiming: Hashable, Sendable {
    /// The pause between two packets of a connection event (Core Specification, Vol 6, Part B, 4.1.1).
    static let interFrameSpace: Nanoseconds = 150_000
    /// The length of the header of an L2CAP PDU, in bytes.
    static let headerLength = 4
    /// The length of the MIC that a packet with data has on an encrypted link, in bytes.
    static let micLength = 4
    /// The payload of a data packet in bytes, without and with the extension of the data length.
    static let dataLengths = 27...251

    let phy: PHY
    /// The longest payload of a packet, in bytes.
    let dataLength: Int
    /// The time that a connection event has for packets; zero without a connection interval.
    let eventLength: Nanoseconds
    /// How many packets go in one direction in one connection event at most; at least 1.
    let maximumPackets: Int

    /// The bytes of an L2CAP channel's stream in a packet: without the headers of the K-frame and of the SDU in it.
    ///
    /// Source: Core Specification, Vol 3, Part A, 3.4.
    var channelPayload: Int { dataLength - Self.headerLength - 2 }

    /// The time of a packet with data.
    func airTime(of length: Int, isEncrypted: Bool) -> Nanoseconds {
        phy.nanoseconds(ofPayload: length + (isEncrypted ? Self.micLength : 0))
    }

    /// The additional connection events that an ATT PDU takes, alone on the link: 0 where it fits into one.
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
    /// The packets of a link: what host and device allow, and what an interval has room for.
    init(_ limits: LinkLayerLimits, interval: Nanoseconds) {
        phy = limits.phy
        maximumPackets = max(1, limits.maximumPackets)
        eventLength = min(interval, max(1, limits.eventLength ?? interval))
        // Each side may answer with as long a packet in the same interval (Core Specification, Vol 6, Part B, 4.5.10).
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
    /// In bytes.
    let dataLength: Int
    /// Nil: the whole interval.
    let eventLength: Nanoseconds?
    /// In one direction in one connection event.
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
