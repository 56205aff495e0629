import BluetoothSupport

/// The devices whose private addresses the controller resolves, and for which it makes some.
///
/// Source: Core Specification, Vol 6, Part B, 6 and 1.3.2.2.
struct ResolvingList: Sendable {
    static let maximumCount = 16

    struct Entry: Sendable {
        var device: HCIAddress
        /// Most significant byte first; nil if it is all zeros.
        var peerKey: [UInt8]?
        var localKey: [UInt8]?
        /// Whether packets with the identity address are accepted, too: device privacy mode.
        var acceptsIdentity = false
        /// The last address that the device had.
        var peerAddress: HCIAddress?
        /// The last address that the controller had for the device.
        var localAddress: HCIAddress?
    }

    var isEnabled = false
    var entries: [Entry] = []
    /// The time after which the controller changes its private addresses.
    var timeout = Duration.seconds(900)

    func index(of device: HCIAddress) -> Int? { entries.firstIndex { $0.device == device } }

    /// Returns the device that a private address belongs to.
    mutating func identity(
        of address: HCIAddress, using cipher: @Sendable ([UInt8], [UInt8]) -> [UInt8]
    ) -> HCIAddress? {
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

    /// Whether packets with an identity address are ignored, since the device has a private one.
    func ignores(_ address: HCIAddress) -> Bool {
        isEnabled && entries.contains { $0.device == address && $0.peerKey != nil && !$0.acceptsIdentity }
    }

    /// The random address function `ah`.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.2.2.
    static func hash(
        _ part: UInt64, _ key: [UInt8], _ cipher: @Sendable ([UInt8], [UInt8]) -> [UInt8]
    ) -> UInt64 {
        var block = [UInt8](repeating: 0, count: 8)
        block.append(bigEndian: part)
        return cipher(key, block).suffix(3).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Source: Core Specification, Vol 4, Part E, 7.8.38 to 7.8.45 and 7.8.77.
extension Controller {
    /// The time after which ``renewPrivateAddresses()`` is due.
    package var privateAddressTimeout: Duration { state.resolvingList.timeout }

    /// Makes new private addresses for the enabled advertising sets.
    package mutating func renewPrivateAddresses() -> Output {
        for number in state.advertising.keys.sorted() {
            guard var set = state.advertising[number], set.isEnabled, let old = set.address,
                let address = privateAddress(type: set.ownAddressType, peer: set.peer), address != old
            else { continue }
            set.address = address
            state.advertising[number] = set
            advertise(number)
        }
        return takeOutput()
    }

    mutating func addToResolvingList(_ cursor: inout ByteCursor) throws(HCIStatus) {
        try checkIdle()
        let device = try cursor.takeAddress()
        let peerKey = try cursor.takeKey()
        let localKey = try cursor.takeKey()
        guard state.resolvingList.index(of: device) == nil else { throw .invalidCommandParameters }
        guard state.resolvingList.entries.count < ResolvingList.maximumCount else { throw .memoryCapacityExceeded }
        state.resolvingList.entries.append(
            ResolvingList.Entry(
                device: device, peerKey: peerKey.contains { $0 != 0 } ? peerKey : nil,
                localKey: localKey.contains { $0 != 0 } ? localKey : nil))
    }

    mutating func removeFromResolvingList(_ cursor: inout ByteCursor) throws(HCIStatus) {
        try checkIdle()
        state.resolvingList.entries.remove(at: try entry(&cursor))
    }

    mutating func clearResolvingList() throws(HCIStatus) {
        try checkIdle()
        state.resolvingList.entries = []
    }

    func readPeerPrivateAddress(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        let entry = state.resolvingList.entries[try entry(&cursor)]
        guard let address = entry.peerAddress else { throw .unknownConnectionIdentifier }
        return address.bytes
    }

    func readLocalPrivateAddress(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        let entry = state.resolvingList.entries[try entry(&cursor)]
        guard let address = entry.localAddress else { throw .unknownConnectionIdentifier }
        return address.bytes
    }

    mutating func setAddressResolutionEnable(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let isEnabled = try cursor.takeFlag()
        guard !isBusy else { throw .commandDisallowed }
        state.resolvingList.isEnabled = isEnabled
    }

    mutating func setPrivateAddressTimeout(_ cursor: inout ByteCursor) throws(HCIStatus) {
        state.resolvingList.timeout = .seconds(1) * Int(try cursor.take(in: UInt16(1)...0xA1B8))
    }

    mutating func setPrivacyMode(_ cursor: inout ByteCursor) throws(HCIStatus) {
        guard !isBusy else { throw .commandDisallowed }
        let index = try entry(&cursor)
        state.resolvingList.entries[index].acceptsIdentity = try cursor.takeFlag()
    }

    private func entry(_ cursor: inout ByteCursor) throws(HCIStatus) -> Int {
        guard let index = state.resolvingList.index(of: try cursor.takeAddress()) else {
            throw .unknownConnectionIdentifier
        }
        return index
    }

    /// Whether a procedure is under way that may use the list.
    private var isBusy: Bool {
        state.scan.isEnabled || state.initiator != nil || state.advertising.values.contains(where: \.isEnabled)
    }

    private func checkIdle() throws(HCIStatus) {
        guard !(state.resolvingList.isEnabled && isBusy) else { throw .commandDisallowed }
    }

    // MARK: The controller's own addresses

    /// Returns the address of an own address type; one that the host has not set throws.
    mutating func ownAddress(type: UInt8, random: HCIAddress?, peer: HCIAddress?) throws(HCIStatus) -> HCIAddress {
        if let address = privateAddress(type: type, peer: peer) { return address }
        guard type & 1 == 1 else { return configuration.address }
        guard let random else { throw .invalidCommandParameters }
        return random
    }

    /// Makes a resolvable private address.
    ///
    /// - Returns: nil if the own address type is another one, or the resolving list has no key for the peer.
    private mutating func privateAddress(type: UInt8, peer: HCIAddress?) -> HCIAddress? {
        guard type >= 2, state.resolvingList.isEnabled, let index = peer.flatMap({ state.resolvingList.index(of: $0) }),
            let key = state.resolvingList.entries[index].localKey
        else { return nil }
        let part: UInt64 = generator.next() & 0x3F_FFFF | 0x40_0000
        let address = HCIAddress(
            bits: part << 24 | ResolvingList.hash(part, key, configuration.cipher), isRandom: true)
        state.resolvingList.entries[index].localAddress = address
        return address
    }
}

extension ByteCursor {
    /// Reads a key of 16 bytes, least significant first.
    mutating func takeKey() throws(HCIStatus) -> [UInt8] { try take(bytes: 16).reversed() }
}
