/// Advertising sets.
///
/// Source: Core Specification, Vol 4, Part E, 7.8.52 to 7.8.60.
extension Controller {
    private static let maximumSetHandle: UInt8 = 0xEF

    mutating func setAdvertisingSetRandomAddress(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let number = try cursor.read(in: 0...Self.maximumSetHandle)
        var set = try advertisingSet(number)
        guard !(set.isEnabled && set.kind.isConnectable) else { throw .commandDisallowed }
        set.randomAddress = try cursor.readAddress(isRandom: true)
        if set.isEnabled, set.ownAddressType == 1 { set.address = set.randomAddress }
        state.advertising[number] = set
        if set.isEnabled { advertise(number) }
    }

    /// - Returns: The transmit power.
    mutating func setExtendedAdvertisingParameters(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        let number = try cursor.read(in: 0...Self.maximumSetHandle)
        var set = state.advertising[number] ?? AdvertisingSet()
        guard !set.isEnabled else { throw .commandDisallowed }
        set.kind = try AdvertisingSet.Kind(extended: &cursor)
        let shortest = try cursor.readLongInterval()
        guard shortest >= 0x20, try cursor.readLongInterval() >= shortest else { throw .invalidCommandParameters }
        set.interval = .microseconds(625) * Int(shortest)
        try cursor.skipPrimaryChannels()
        set.ownAddressType = try cursor.read(in: 0...3)
        set.peer = try cursor.readAddress()
        set.usesAcceptList = try cursor.readAdvertisingFilterPolicy()
        let power = Int8(bitPattern: try cursor.read())
        guard power == 127 || power <= 20 else { throw .invalidCommandParameters }
        // Legacy packets are sent on 1M; 1 is 1M, 2 is 2M, 3 coded; the secondary PHY of legacy packets is ignored.
        let primary = try cursor.read(UInt8.self)
        _ = try cursor.read(UInt8.self)
        let secondary = try cursor.read(UInt8.self)
        guard primary == 1 || primary == 3 && !set.kind.isLegacy, set.kind.isLegacy || (1...3).contains(secondary)
        else {
            throw .invalidCommandParameters
        }
        set.setID = try cursor.read(in: 0...15)
        let notifies = try cursor.readFlag()
        // Scan requests are not modeled, so their reports are not either.
        guard !notifies else { throw .unsupportedFeatureOrParameterValue }
        guard !set.kind.isLegacy || set.fits(set.data.bytes.count) else { throw .invalidCommandParameters }
        guard state.advertising[number] != nil || state.advertising.count < AdvertisingSet.maximumCount else {
            throw .memoryCapacityExceeded
        }
        state.advertising[number] = set
        let range = LocalInformation.transmitPower
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
        _ cursor: inout ByteCursor, _ part: WritableKeyPath<AdvertisingSet, AdvertisingSetData>,
        fits: (AdvertisingSet, Int) -> Bool
    ) throws(HCIStatus) {
        let number = try cursor.read(in: 0...Self.maximumSetHandle)
        let operation = try cursor.read(in: UInt8(0)...4)
        // The fragments of the Link Layer are not the host's.
        _ = try cursor.readFlag()
        let length = try cursor.read(in: UInt8(0)...251)
        guard cursor.count == Int(length) else { throw .invalidCommandParameters }
        let bytes = try cursor.read(bytes: Int(length))
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
        let isEnabled = try cursor.readFlag()
        let count = try cursor.read(in: UInt8(0)...0x3F)
        guard cursor.count == 4 * Int(count) else { throw .invalidCommandParameters }
        if count == 0 {
            guard !isEnabled else { throw .invalidCommandParameters }
            for number in state.advertising.keys.sorted() { disableAdvertising(number) }
            return
        }
        var sets: [UInt8: AdvertisingSet] = [:]
        var order: [UInt8] = []
        for _ in 0..<count {
            let number = try cursor.read(in: 0...Self.maximumSetHandle)
            let duration = try cursor.read(UInt16.self)
            let maximumEvents = try cursor.read(UInt8.self)
            guard sets[number] == nil else { throw .invalidCommandParameters }
            var set = try advertisingSet(number)
            if isEnabled {
                set.duration = duration == 0 ? nil : .milliseconds(10) * Int(duration)
                set.maximumEvents = maximumEvents
                try check(set)
                try enable(&set)
            }
            sets[number] = set
            order.append(number)
        }
        for number in order {
            guard isEnabled, let set = sets[number] else {
                disableAdvertising(number)
                continue
            }
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
        let number = try cursor.read(in: 0...Self.maximumSetHandle)
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
}
