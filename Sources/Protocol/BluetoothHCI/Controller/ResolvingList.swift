/// The devices whose private addresses the controller resolves, and for which it makes some.
///
/// Source: Core Specification, Vol 6, Part B, 6 and 1.3.2.2; Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77.
struct ResolvingList: Sendable {
    static let maximumCount = 16

    typealias Cipher = @Sendable (_ key: [UInt8], _ block: [UInt8]) -> [UInt8]

    private struct Entry: Sendable {
        let device: HCIAddress
        /// Most significant byte first; nil if it is all zeros.
        let peerKey: [UInt8]?
        let localKey: [UInt8]?
        /// Whether packets with the identity address are accepted, too: device privacy mode.
        var acceptsIdentity = false
        /// The last address that the device had.
        var peerAddress: HCIAddress?
        /// The last address that the controller had for the device.
        var localAddress: HCIAddress?
    }

    /// Whether the controller resolves addresses, and makes them.
    var isEnabled = false
    /// The time after which the controller changes its private addresses.
    private(set) var timeout = Duration.seconds(900)
    private var entries: [Entry] = []

    var count: Int { entries.count }

    // MARK: Commands

    mutating func add(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let device = try cursor.readAddress()
        let peerKey = try cursor.readKey()
        let localKey = try cursor.readKey()
        guard !entries.contains(where: { $0.device == device }) else { throw .invalidCommandParameters }
        guard entries.count < Self.maximumCount else { throw .memoryCapacityExceeded }
        entries.append(
            Entry(
                device: device, peerKey: peerKey.contains { $0 != 0 } ? peerKey : nil,
                localKey: localKey.contains { $0 != 0 } ? localKey : nil))
    }

    mutating func remove(_ cursor: inout ByteCursor) throws(HCIStatus) { entries.remove(at: try index(&cursor)) }

    mutating func removeAll() { entries = [] }

    func readPeerAddress(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        try address(&cursor, \.peerAddress)
    }

    func readLocalAddress(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        try address(&cursor, \.localAddress)
    }

    mutating func setTimeout(_ cursor: inout ByteCursor) throws(HCIStatus) {
        timeout = .seconds(1) * Int(try cursor.read(in: UInt16(1)...0xA1B8))
    }

    mutating func setPrivacyMode(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let index = try index(&cursor)
        entries[index].acceptsIdentity = try cursor.readFlag()
    }

    private func index(_ cursor: inout ByteCursor) throws(HCIStatus) -> Int {
        let device = try cursor.readAddress()
        guard let index = entries.firstIndex(where: { $0.device == device }) else {
            throw .unknownConnectionIdentifier
        }
        return index
    }

    private func address(
        _ cursor: inout ByteCursor, _ address: KeyPath<Entry, HCIAddress?>
    ) throws(HCIStatus) -> [UInt8] {
        guard let address = entries[try index(&cursor)][keyPath: address] else { throw .unknownConnectionIdentifier }
        return address.bytes
    }

    // MARK: Addresses of devices

    /// Returns the device that a private address belongs to.
    mutating func identity(of address: HCIAddress, using cipher: Cipher) -> HCIAddress? {
        guard isEnabled, address.isRandom, address.bits >> 46 == 0b01 else { return nil }
        let index = entries.firstIndex { entry in
            guard let key = entry.peerKey else { return false }
            return entry.peerAddress == address
                || Self.hash(address.bits >> 24, key, cipher) == address.bits & 0xFF_FFFF
        }
        guard let index else { return nil }
        entries[index].peerAddress = address
        return entries[index].device
    }

    /// Whether the device may have a private address.
    func resolves(_ device: HCIAddress) -> Bool {
        isEnabled && entries.contains { $0.device == device && $0.peerKey != nil }
    }

    /// Whether packets with an identity address are ignored, since the device has a private one.
    func ignores(_ device: HCIAddress) -> Bool {
        isEnabled && entries.contains { $0.device == device && $0.peerKey != nil && !$0.acceptsIdentity }
    }

    // MARK: Addresses of the controller

    /// Makes a resolvable private address.
    ///
    /// - Returns: nil if the list has no key for the peer.
    mutating func makeAddress(for peer: HCIAddress, random: UInt64, using cipher: Cipher) -> HCIAddress? {
        guard isEnabled, let index = entries.firstIndex(where: { $0.device == peer }),
            let key = entries[index].localKey
        else { return nil }
        let part = random & 0x3F_FFFF | 0x40_0000
        let address = HCIAddress(bits: part << 24 | Self.hash(part, key, cipher), isRandom: true)
        entries[index].localAddress = address
        return address
    }

    /// Whether the controller has made the address.
    func hasMade(_ address: HCIAddress) -> Bool { entries.contains { $0.localAddress == address } }

    /// The random address function `ah`.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.2.2.
    static func hash(_ part: UInt64, _ key: [UInt8], _ cipher: Cipher) -> UInt64 {
        var block = [UInt8](repeating: 0, count: 8)
        block.append(bigEndian: part)
        return cipher(key, block).suffix(3).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
