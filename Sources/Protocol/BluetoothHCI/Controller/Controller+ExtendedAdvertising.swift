/// Advertising sets.
///
/// Source: Core Specification, Vol 4, Part E, 7.8.52 to 7.8.60.
extension Controller {
    private static let maximumSetHandle: UInt8 = 0xEF

    mutating func setAdvertisingSetRandomAddress(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let number = try cursor.take(in: 0...Self.maximumSetHandle)
        var set = try advertisingSet(number)
        guard !(set.isEnabled && set.kind.isConnectable) else { throw .commandDisallowed }
        set.randomAddress = try cursor.takeAddress(isRandom: true)
        if set.isEnabled, set.ownAddressType == 1 { set.address = set.randomAddress }
        state.advertising[number] = set
        if set.isEnabled { advertise(number) }
    }

    /// - Returns: The transmit power.
    mutating func setExtendedAdvertisingParameters(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        let number = try cursor.take(in: 0...Self.maximumSetHandle)
        var set = state.advertising[number] ?? AdvertisingSet()
        guard !set.isEnabled else { throw .commandDisallowed }
        set.kind = try cursor.takeKind()
        let shortest = try cursor.takeInterval()
        guard shortest >= 0x20, try cursor.takeInterval() >= shortest else { throw .invalidCommandParameters }
        set.interval = .microseconds(625) * Int(shortest)
        try cursor.takeChannels()
        set.ownAddressType = try cursor.take(in: 0...3)
        set.peer = try cursor.takeAddress()
        try cursor.takeFilterPolicy(&set)
        let power = Int8(bitPattern: try cursor.take())
        guard power == 127 || power <= 20 else { throw .invalidCommandParameters }
        // Legacy packets are sent on 1M; 1 is 1M, 2 is 2M, 3 coded; the secondary PHY of legacy packets is ignored.
        let primary = try cursor.take(UInt8.self)
        _ = try cursor.take(UInt8.self)
        let secondary = try cursor.take(UInt8.self)
        guard primary == 1 || primary == 3 && !set.kind.isLegacy, set.kind.isLegacy || (1...3).contains(secondary)
        else {
            throw .invalidCommandParameters
        }
        set.setID = try cursor.take(in: 0...15)
        let notifies = try cursor.takeFlag()
        // Scan requests are not modeled, so their reports are not either.
        guard !notifies else { throw .unsupportedFeatureOrParameterValue }
        guard !set.kind.isLegacy || set.fits(set.data.bytes.count) else { throw .invalidCommandParameters }
        guard state.advertising[number] != nil || state.advertising.count < AdvertisingSet.maximumCount else {
            throw .memoryCapacityExceeded
        }
        state.advertising[number] = set
        let range = Self.transmitPower
        return [
            UInt8(bitPattern: power == 127 ? range.upperBound : min(max(power, range.lowerBound), range.upperBound))
        ]
    }

    mutating func setExtendedAdvertisingData(_ cursor: inout ByteCursor) throws(HCIStatus) {
        try setExtendedData(&cursor, \.data) { $0.fits($1) }
    }

    mutating func setExtendedScanResponseData(_ cursor: inout ByteCursor) throws(HCIStatus) {
        try setExtendedData(&cursor, \.scanResponse) { $0.fitsScanResponse($1) }
    }

    private mutating func setExtendedData(
        _ cursor: inout ByteCursor, _ part: WritableKeyPath<AdvertisingSet, AdvertisingData>,
        fits: (AdvertisingSet, Int) -> Bool
    ) throws(HCIStatus) {
        let number = try cursor.take(in: 0...Self.maximumSetHandle)
        let operation = try cursor.take(in: UInt8(0)...4)
        // The fragments of the Link Layer are not the host's.
        _ = try cursor.takeFlag()
        let length = try cursor.take(in: UInt8(0)...251)
        guard cursor.count == Int(length) else { throw .invalidCommandParameters }
        let bytes = try cursor.take(bytes: Int(length))
        var set = try advertisingSet(number)
        if operation == 4 {
            // The data stays; a new identifier of the data, which the Link Layer does not have, is all that changes.
            guard set.isEnabled, bytes.isEmpty, !set.kind.isLegacy, !set[keyPath: part].bytes.isEmpty else {
                throw .invalidCommandParameters
            }
            return
        }
        guard !set.isEnabled || operation == 3 else { throw .commandDisallowed }
        guard fits(set, bytes.count), !set.kind.isLegacy || operation == 3 else { throw .invalidCommandParameters }
        do {
            try set[keyPath: part].add(bytes, operation: operation)
        } catch {
            state.advertising[number] = set
            throw error
        }
        state.advertising[number] = set
        if set.isEnabled { advertise(number) }
    }

    mutating func setExtendedAdvertisingEnable(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let isEnabled = try cursor.takeFlag()
        let count = try cursor.take(in: UInt8(0)...0x3F)
        guard cursor.count == 4 * Int(count) else { throw .invalidCommandParameters }
        if count == 0 {
            guard !isEnabled else { throw .invalidCommandParameters }
            for number in state.advertising.keys.sorted() { disable(number) }
            return
        }
        var sets: [UInt8: AdvertisingSet] = [:]
        var order: [UInt8] = []
        for _ in 0..<count {
            let number = try cursor.take(in: 0...Self.maximumSetHandle)
            let duration = try cursor.take(UInt16.self)
            let maximumEvents = try cursor.take(UInt8.self)
            guard sets[number] == nil else { throw .invalidCommandParameters }
            var set = try advertisingSet(number)
            if isEnabled {
                set.duration = duration == 0 ? nil : .milliseconds(10) * Int(duration)
                set.maximumEvents = maximumEvents
                try check(set)
                try prepare(&set)
            }
            sets[number] = set
            order.append(number)
        }
        for number in order {
            guard isEnabled, var set = sets[number] else {
                disable(number)
                continue
            }
            set.isEnabled = true
            state.advertising[number] = set
            advertise(number)
        }
    }

    private func check(_ set: AdvertisingSet) throws(HCIStatus) {
        guard !set.data.isIncomplete, !set.scanResponse.isIncomplete else { throw .commandDisallowed }
        // An extended scannable set has its data in the scan response.
        let needsScanResponse = !set.kind.isLegacy && set.kind.isScannable
        guard !needsScanResponse || !set.scanResponse.bytes.isEmpty else { throw .commandDisallowed }
        if set.kind.isHighDuty {
            guard let duration = set.duration, duration <= AdvertisingSet.highDutyDuration else {
                throw .invalidCommandParameters
            }
        }
    }

    mutating func removeAdvertisingSet(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let number = try cursor.take(in: 0...Self.maximumSetHandle)
        guard !(try advertisingSet(number)).isEnabled else { throw .commandDisallowed }
        state.advertising[number] = nil
    }

    mutating func clearAdvertisingSets() throws(HCIStatus) {
        guard !state.advertising.values.contains(where: \.isEnabled) else { throw .commandDisallowed }
        state.advertising = [:]
    }

    /// LE Advertising Set Terminated without a link.
    mutating func sendTerminated(_ number: UInt8, _ set: AdvertisingSet, isLimited: Bool) {
        let status: HCIStatus = isLimited ? .limitReached : .advertisingTimeout
        send(.advertisingSetTerminated, [status.rawValue, number, 0, 0, isLimited ? set.maximumEvents : 0])
    }

    private func advertisingSet(_ number: UInt8) throws(HCIStatus) -> AdvertisingSet {
        guard let set = state.advertising[number] else { throw .unknownAdvertisingIdentifier }
        return set
    }

    private mutating func disable(_ number: UInt8) {
        guard state.advertising[number]?.isEnabled == true else { return }
        state.advertising[number]?.isEnabled = false
        output.commands.append(.advertise(set: number, nil))
    }
}

extension AdvertisingSet {
    /// Whether its packets have room for that much data.
    func fits(_ length: Int) -> Bool {
        if kind.isLegacy { return length <= (kind.isDirected ? 0 : Self.maximumLegacyLength) }
        return length == 0 || !kind.isScannable
    }

    /// Whether its scan responses have room for that much data.
    func fitsScanResponse(_ length: Int) -> Bool {
        length == 0 || kind.isScannable && (!kind.isLegacy || length <= Self.maximumLegacyLength)
    }
}

extension ByteCursor {
    /// Reads an interval of three bytes.
    fileprivate mutating func takeInterval() throws(HCIStatus) -> UInt32 {
        let low = try take(UInt16.self)
        return UInt32(try take(UInt8.self)) << 16 | UInt32(low)
    }

    /// Reads the properties of a set.
    fileprivate mutating func takeKind() throws(HCIStatus) -> AdvertisingSet.Kind {
        let bits = try take(in: UInt16(0)...0x7F)
        // Packets without an address are not modeled.
        if bits & 0x20 != 0 { throw .unsupportedFeatureOrParameterValue }
        let kind = AdvertisingSet.Kind(
            isConnectable: bits & 0x01 != 0, isScannable: bits & 0x02 != 0, isDirected: bits & 0x04 != 0,
            isHighDuty: bits & 0x08 != 0, isLegacy: bits & 0x10 != 0)
        let legacy: Set<AdvertisingSet.Kind> = [
            .legacyConnectable, .legacyScannable, .legacyNonconnectable, .legacyDirected, .legacyHighDuty,
        ]
        let isValid =
            kind.isLegacy
            ? legacy.contains(kind) : !kind.isHighDuty && !(kind.isConnectable && kind.isScannable)
        guard isValid else { throw .invalidCommandParameters }
        return kind
    }
}
