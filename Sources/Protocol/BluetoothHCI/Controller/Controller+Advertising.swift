/// Advertising, by the legacy commands and as far as both families need it.
///
/// Source: Core Specification, Vol 4, Part E, 7.8.4 to 7.8.9.
extension Controller {
    private static let legacySet: UInt8 = 0

    mutating func setAdvertisingParameters(_ cursor: inout ByteCursor) throws(HCIStatus) {
        var set = state.advertising[Self.legacySet] ?? AdvertisingSet()
        guard !set.isEnabled else { throw .commandDisallowed }
        let shortest = try cursor.read(UInt16.self)
        let longest = try cursor.read(UInt16.self)
        set.kind = try AdvertisingSet.Kind(legacy: &cursor)
        set.ownAddressType = try cursor.read(in: 0...3)
        set.peer = try cursor.readAddress()
        try cursor.skipPrimaryChannels()
        set.usesAcceptList = try cursor.readAdvertisingFilterPolicy()
        // Directed advertising with a high duty cycle ignores both.
        if !set.kind.isHighDuty {
            guard (0x20...0x4000).contains(shortest), (shortest...0x4000).contains(longest) else {
                throw .invalidCommandParameters
            }
            set.interval = .microseconds(625) * Int(shortest)
        }
        state.advertising[Self.legacySet] = set
    }

    mutating func setAdvertisingData(
        _ cursor: inout ByteCursor, _ part: WritableKeyPath<AdvertisingSet, AdvertisingSetData>
    ) throws(HCIStatus) {
        let length = try cursor.read(in: 0...UInt8(AdvertisingSet.maximumLegacyLength))
        var set = state.advertising[Self.legacySet] ?? AdvertisingSet()
        set[keyPath: part] = AdvertisingSetData(try cursor.read(bytes: Int(length)))
        state.advertising[Self.legacySet] = set
        if set.isEnabled { advertise(Self.legacySet) }
    }

    mutating func setAdvertisingEnable(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let isEnabled = try cursor.readFlag()
        var set = state.advertising[Self.legacySet] ?? AdvertisingSet()
        set.duration = set.kind.isHighDuty ? AdvertisingSet.highDutyDuration : nil
        guard isEnabled else { return disableAdvertising(Self.legacySet) }
        try enable(&set)
        state.advertising[Self.legacySet] = set
        advertise(Self.legacySet)
    }

    // MARK: Both families

    /// Enables a set, which begins when the Link Layer gets it.
    mutating func enable(_ set: inout AdvertisingSet) throws(HCIStatus) {
        if set.kind.isConnectable, state.links.count >= Self.maximumLinks { throw .connectionLimitExceeded }
        let random = state.family == .extended ? set.randomAddress : state.randomAddress
        set.address = try ownAddress(type: set.ownAddressType, random: random, peer: set.peer)
    }

    /// Lets the Link Layer advertise with an enabled set as it is now.
    mutating func advertise(_ number: UInt8) {
        guard let set = state.advertising[number], let address = set.address else { return }
        let settings = LinkLayerCommand.AdvertisingSettings(
            address: address, data: set.fits(set.data.bytes.count) ? set.data.bytes : [],
            scanResponse: set.fitsScanResponse(set.scanResponse.bytes.count) ? set.scanResponse.bytes : [],
            interval: set.interval,
            isConnectable: set.kind.isConnectable, isScannable: set.kind.isScannable, isExtended: !set.kind.isLegacy,
            peer: set.kind.isDirected ? set.peer : nil,
            acceptedCentrals: set.usesAcceptList ? Set(state.acceptList.devices) : nil,
            setID: set.kind.isLegacy ? nil : set.setID, duration: set.timeLimit)
        output.commands.append(.advertise(set: number, settings))
    }

    /// Handles the end of a set's duration.
    mutating func endAdvertising(_ number: UInt8) {
        guard let set = state.advertising[number], set.isEnabled else { return }
        state.advertising[number]?.address = nil
        if state.family == .extended {
            sendTerminated(number, set, isLimited: set.endsByEvents)
        } else {
            sendFailedConnection(HCIStatus.advertisingTimeout.rawValue, isCentral: false, peer: set.peer)
        }
    }

    mutating func disableAdvertising(_ number: UInt8) {
        guard state.advertising[number]?.isEnabled == true else { return }
        state.advertising[number]?.address = nil
        output.commands.append(.advertise(set: number, nil))
    }

    /// Ends the set that led to a link.
    ///
    /// - Returns: Its number and its address.
    mutating func endAdvertising(connected number: UInt8?) -> (number: UInt8, address: HCIAddress)? {
        let connectable = state.advertising.filter { $0.value.isEnabled && $0.value.kind.isConnectable }.keys
        guard let number = number ?? connectable.min(), connectable.contains(number),
            let address = state.advertising[number]?.address
        else { return nil }
        state.advertising[number]?.address = nil
        return (number, address)
    }
}
