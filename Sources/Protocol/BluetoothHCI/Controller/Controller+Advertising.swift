/// Advertising, by the legacy commands and as far as both families need it.
///
/// Source: Core Specification, Vol 4, Part E, 7.8.4 to 7.8.9.
extension Controller {
    private static let legacySet: UInt8 = 0

    mutating func setRandomAddress(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let address = try cursor.takeAddress(isRandom: true)
        // Extended advertising has addresses of its own.
        let isAdvertising = state.family != .extended && state.advertising.values.contains { $0.isEnabled }
        guard !isAdvertising, !state.scan.isEnabled, state.initiator == nil else { throw .commandDisallowed }
        state.randomAddress = address
    }

    mutating func setAdvertisingParameters(_ cursor: inout ByteCursor) throws(HCIStatus) {
        var set = state.advertising[Self.legacySet] ?? AdvertisingSet()
        guard !set.isEnabled else { throw .commandDisallowed }
        let shortest = try cursor.take(UInt16.self)
        let longest = try cursor.take(UInt16.self)
        set.kind = try cursor.takeLegacyKind()
        set.ownAddressType = try cursor.take(in: 0...3)
        set.peer = try cursor.takeAddress()
        try cursor.takeChannels()
        try cursor.takeFilterPolicy(&set)
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
        _ cursor: inout ByteCursor, _ part: WritableKeyPath<AdvertisingSet, AdvertisingData>
    ) throws(HCIStatus) {
        let length = try cursor.take(in: 0...UInt8(AdvertisingSet.maximumLegacyLength))
        var set = state.advertising[Self.legacySet] ?? AdvertisingSet()
        set[keyPath: part] = AdvertisingData(try cursor.take(bytes: Int(length)))
        state.advertising[Self.legacySet] = set
        if set.isEnabled { advertise(Self.legacySet) }
    }

    mutating func setAdvertisingEnable(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let isEnabled = try cursor.takeFlag()
        var set = state.advertising[Self.legacySet] ?? AdvertisingSet()
        set.duration = set.kind.isHighDuty ? AdvertisingSet.highDutyDuration : nil
        if isEnabled {
            try prepare(&set)
        } else if set.isEnabled {
            output.commands.append(.advertise(set: Self.legacySet, nil))
        }
        set.isEnabled = isEnabled
        state.advertising[Self.legacySet] = set
        if isEnabled { advertise(Self.legacySet) }
    }

    // MARK: Both families

    /// Chooses the address of a set that is about to be enabled.
    mutating func prepare(_ set: inout AdvertisingSet) throws(HCIStatus) {
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
        guard var set = state.advertising[number], set.isEnabled else { return }
        set.isEnabled = false
        state.advertising[number] = set
        if state.family == .extended {
            sendTerminated(number, set, isLimited: set.endsByEvents)
        } else {
            sendFailedConnection(HCIStatus.advertisingTimeout.rawValue, isCentral: false, peer: set.peer)
        }
    }

    /// Ends the set that led to a link.
    ///
    /// - Returns: Its number.
    mutating func endAdvertising(connected number: UInt8?) -> UInt8? {
        let connectable = state.advertising.filter { $0.value.isEnabled && $0.value.kind.isConnectable }.keys
        guard let number = number ?? connectable.min(), connectable.contains(number) else { return nil }
        state.advertising[number]?.isEnabled = false
        return number
    }
}

extension AdvertisingSet {
    /// The time of the duration and of the events, whichever is less.
    fileprivate var timeLimit: Duration? {
        let events = maximumEvents == 0 ? nil : interval * Int(maximumEvents)
        return [duration, events].compactMap { $0 }.min()
    }

    /// Whether the number of events ends the set before its duration does.
    fileprivate var endsByEvents: Bool {
        maximumEvents > 0 && (duration.map { interval * Int(maximumEvents) < $0 } ?? true)
    }
}

extension ByteCursor {
    /// Reads the type of a legacy packet.
    fileprivate mutating func takeLegacyKind() throws(HCIStatus) -> AdvertisingSet.Kind {
        switch try take(UInt8.self) {
        case 0: .legacyConnectable
        case 1: .legacyHighDuty
        case 2: .legacyScannable
        case 3: .legacyNonconnectable
        case 4: .legacyDirected
        default: throw .invalidCommandParameters
        }
    }

    /// Reads the map of the three primary channels, of which the Link Layer needs none.
    mutating func takeChannels() throws(HCIStatus) { _ = try take(in: UInt8(1)...7) }

    mutating func takeFilterPolicy(_ set: inout AdvertisingSet) throws(HCIStatus) {
        // Bit 0 filters scan requests, which the Link Layer answers for all.
        set.usesAcceptList = try take(in: UInt8(0)...3) & 2 != 0
    }
}
