/// A set of advertising, of which legacy advertising is number 0.
struct AdvertisingSet: Sendable {
    /// The number of sets, and the bytes of data that each may have.
    static let maximumCount = 16
    static let maximumLength = 1650
    /// The bytes of data in a legacy packet.
    static let maximumLegacyLength = 31
    /// The time that directed advertising with a high duty cycle lasts.
    ///
    /// Source: Core Specification, Vol 6, Part B, 4.4.2.4.3.
    static let highDutyDuration = Duration.milliseconds(1_280)

    var kind = Kind.legacyConnectable
    var interval = Duration.microseconds(625) * 0x0800
    var ownAddressType: UInt8 = 0
    /// The central to which a directed set advertises, and whose keys make private addresses.
    var peer = HCIAddress(bits: 0, isRandom: false)
    /// Whether only centrals of the accept list may connect.
    var usesAcceptList = false
    var setID: UInt8 = 0
    var randomAddress: HCIAddress?
    var data = AdvertisingSetData()
    var scanResponse = AdvertisingSetData()
    /// The address on the air while the set is enabled.
    var address: HCIAddress?
    var duration: Duration?
    /// The number of packets after which it ends; 0 if it does not.
    var maximumEvents: UInt8 = 0

    var isEnabled: Bool { address != nil }

    /// The time of the duration and of the events, whichever is less.
    var timeLimit: Duration? {
        let events = maximumEvents == 0 ? nil : interval * Int(maximumEvents)
        return [duration, events].compactMap { $0 }.min()
    }

    /// Whether the number of events ends the set before its duration does.
    var endsByEvents: Bool {
        maximumEvents > 0 && (duration.map { interval * Int(maximumEvents) < $0 } ?? true)
    }

    /// Whether its packets have room for that much data.
    func fits(_ length: Int) -> Bool {
        if kind.isLegacy { return length <= (kind.isDirected ? 0 : Self.maximumLegacyLength) }
        return length == 0 || !kind.isScannable
    }

    /// Whether its scan responses have room for that much data.
    func fitsScanResponse(_ length: Int) -> Bool {
        length == 0 || kind.isScannable && (!kind.isLegacy || length <= Self.maximumLegacyLength)
    }

    struct Kind: Hashable, Sendable {
        var isConnectable = false
        var isScannable = false
        var isDirected = false
        var isHighDuty = false
        var isLegacy = false

        static let legacyConnectable = Kind(isConnectable: true, isScannable: true, isLegacy: true)
        static let legacyScannable = Kind(isScannable: true, isLegacy: true)
        static let legacyNonconnectable = Kind(isLegacy: true)
        static let legacyDirected = Kind(isConnectable: true, isDirected: true, isLegacy: true)
        static let legacyHighDuty = Kind(isConnectable: true, isDirected: true, isHighDuty: true, isLegacy: true)
    }
}

extension AdvertisingSet.Kind {
    /// Reads the type of a legacy packet.
    init(legacy cursor: inout ByteCursor) throws(HCIStatus) {
        switch try cursor.read(UInt8.self) {
        case 0: self = .legacyConnectable
        case 1: self = .legacyHighDuty
        case 2: self = .legacyScannable
        case 3: self = .legacyNonconnectable
        case 4: self = .legacyDirected
        default: throw .invalidCommandParameters
        }
    }

    /// Reads the properties of a set.
    init(extended cursor: inout ByteCursor) throws(HCIStatus) {
        let bits = try cursor.read(in: UInt16(0)...0x7F)
        // Packets without an address are not modeled.
        if bits & 0x20 != 0 { throw .unsupportedFeatureOrParameterValue }
        self.init(
            isConnectable: bits & 0x01 != 0, isScannable: bits & 0x02 != 0, isDirected: bits & 0x04 != 0,
            isHighDuty: bits & 0x08 != 0, isLegacy: bits & 0x10 != 0)
        let legacy: Set<Self> = [
            .legacyConnectable, .legacyScannable, .legacyNonconnectable, .legacyDirected, .legacyHighDuty,
        ]
        let isValid = isLegacy ? legacy.contains(self) : !isHighDuty && !(isConnectable && isScannable)
        guard isValid else { throw .invalidCommandParameters }
    }
}

/// The data of a set, which the host may give in fragments.
struct AdvertisingSetData: Sendable {
    private(set) var bytes: [UInt8] = []
    /// The fragments of data whose last one is still missing.
    private var fragments: [UInt8]?

    var isIncomplete: Bool { fragments != nil }

    init() {}
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Adds a fragment.
    ///
    /// Source: Core Specification, Vol 4, Part E, 7.8.54.
    ///
    /// - Parameter operation: 0 intermediate, 1 first, 2 last, 3 complete.
    mutating func add(_ part: [UInt8], operation: UInt8) throws(HCIStatus) {
        if operation == 3 {
            self = AdvertisingSetData(part)
            return
        }
        guard !part.isEmpty else { throw .invalidCommandParameters }
        if operation == 1 {
            self = AdvertisingSetData()
            fragments = part
            return
        }
        guard let begun = fragments else { throw .invalidCommandParameters }
        guard begun.count + part.count <= AdvertisingSet.maximumLength else {
            self = AdvertisingSetData()
            throw .memoryCapacityExceeded
        }
        fragments = begun + part
        if operation == 2 { self = AdvertisingSetData(begun + part) }
    }
}
