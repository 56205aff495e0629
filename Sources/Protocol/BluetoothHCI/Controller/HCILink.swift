/// A connection of the controller.
struct HCILink: Sendable {
    let isCentral: Bool
    /// The address that the host knows.
    let peer: HCIAddress
    var parameters: HCIConnectionParameters
    var dataLength = DataLength.minimum
    var phys = PHYs(transmit: 1, receive: 1)
    var isEncrypted = false
    /// The procedures that have begun and have not ended.
    var procedures: Set<Procedure> = []

    // MARK: Data
    /// The number of packets of the host's incomplete frame that are not reported as completed.
    var heldPackets = 0
    /// The number of packets of each frame that is being sent, the oldest first.
    var frames: [Int] = []
    /// The fragments that wait for a buffer of the host, the oldest first.
    var waiting: [HCIPacket] = []
    /// The number of the host's buffers that fragments of the link occupy.
    var hostPackets = 0

    enum Procedure: Hashable, Sendable {
        case disconnect
        case parameterUpdate
        /// The other end asks for parameters.
        case parameterRequest
        case signalStrength
        /// The central starts encryption, or changes the key.
        case encryption
        /// The central of the other end asks for the key.
        case keyRequest
    }

    /// The number of the host's packets that are not reported as completed.
    var pendingPackets: Int { heldPackets + frames.reduce(0, +) }
}

/// The properties of new links.
struct LinkDefaults: Sendable {
    /// All 37 data channels.
    static let allChannels: UInt64 = 0x1F_FFFF_FFFF

    var channelMap = Self.allChannels
    var dataLength = DataLength.minimum
    var phys = PHYPreference()
}

/// The longest payload of the Link Layer's packets, and the time on the air.
///
/// Source: Core Specification, Vol 6, Part B, 4.5.10.
struct DataLength: Hashable, Sendable {
    var octets: UInt16
    /// The time in microseconds.
    var time: UInt16

    static let minimum = DataLength(octets: 27, time: 328)
    static let maximum = DataLength(octets: 251, time: 17_040)
    /// The length at the other end, at 1M.
    static let remote = DataLength(octets: 251, time: 2_120)

    var bytes: [UInt8] { octets.bytes + time.bytes }
}

extension DataLength {
    init(_ cursor: inout ByteCursor) throws(HCIStatus) {
        octets = try cursor.read(in: Self.minimum.octets...Self.maximum.octets)
        time = try cursor.read(in: Self.minimum.time...Self.maximum.time)
    }
}

/// The PHYs of a link: 1 is 1M, 2 is 2M, 3 coded.
struct PHYs: Hashable, Sendable {
    var transmit: UInt8
    var receive: UInt8

    var bytes: [UInt8] { [transmit, receive] }
}

/// The PHYs that the host prefers: bit 0 for 1M, bit 1 for 2M, bit 2 for coded; nil if it prefers none.
///
/// Source: Core Specification, Vol 4, Part E, 7.8.48.
struct PHYPreference: Sendable {
    private var transmit: UInt8?
    private var receive: UInt8?

    init() {}

    init(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let none = try cursor.read(in: UInt8(0)...3)
        let (transmit, receive) = (try cursor.read(UInt8.self), try cursor.read(UInt8.self))
        self.transmit = none & 1 != 0 ? nil : transmit
        self.receive = none & 2 != 0 ? nil : receive
        for mask in [self.transmit, self.receive].compactMap({ $0 }) where !(1...7).contains(mask) {
            throw .invalidCommandParameters
        }
    }

    /// Returns the fastest PHYs of those preferred.
    func fastest(_ current: PHYs) -> PHYs {
        PHYs(
            transmit: Self.fastest(transmit) ?? current.transmit, receive: Self.fastest(receive) ?? current.receive)
    }

    /// Returns the PHYs as they are, if they are preferred, or the fastest.
    func preferred(_ current: PHYs) -> PHYs {
        let fastest = fastest(current)
        return PHYs(
            transmit: Self.includes(transmit, current.transmit) ? current.transmit : fastest.transmit,
            receive: Self.includes(receive, current.receive) ? current.receive : fastest.receive)
    }

    private static func fastest(_ mask: UInt8?) -> UInt8? { mask.map { $0 & 2 != 0 ? 2 : $0 & 1 != 0 ? 1 : 3 } }

    private static func includes(_ mask: UInt8?, _ phy: UInt8) -> Bool { mask.map { $0 >> (phy - 1) & 1 == 1 } ?? true }
}
