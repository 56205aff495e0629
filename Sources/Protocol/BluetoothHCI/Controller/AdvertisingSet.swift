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
    var data = AdvertisingData()
    var scanResponse = AdvertisingData()
    var isEnabled = false
    /// The address on the air, if the set is enabled.
    var address: HCIAddress?
    var duration: Duration?
    /// The number of packets after which it ends; 0 if it does not.
    var maximumEvents: UInt8 = 0

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

/// The data of a set, which the host may give in fragments.
struct AdvertisingData: Sendable {
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
            self = AdvertisingData(part)
            return
        }
        guard !part.isEmpty else { throw .invalidCommandParameters }
        if operation == 1 {
            self = AdvertisingData()
            fragments = part
            return
        }
        guard let begun = fragments else { throw .invalidCommandParameters }
        guard begun.count + part.count <= AdvertisingSet.maximumLength else {
            self = AdvertisingData()
            throw .memoryCapacityExceeded
        }
        fragments = begun + part
        if operation == 2 { self = AdvertisingData(begun + part) }
    }
}
