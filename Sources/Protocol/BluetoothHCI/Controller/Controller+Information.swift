/// What a host reads first.
extension Controller {
    /// Version 5.2, a company without a number of its own.
    ///
    /// Source: Core Specification, Vol 4, Part E, 7.4.1; Assigned Numbers, 2.1 and 7.
    static let version: [UInt8] = [0x0B, 0, 0, 0x0B, 0xFF, 0xFF]
    static let subversion: [UInt8] = [0, 0]

    /// The features of the Link Layer, in eight octets.
    static let lowEnergyFeatures: [UInt8] = {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: LowEnergyFeatures.supported.rawValue)
        return bytes
    }()

    /// All states and roles, and all combinations of them.
    ///
    /// Source: Core Specification, Vol 4, Part E, 7.8.27.
    static let supportedStates: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0]

    /// In dBm.
    static let transmitPower: ClosedRange<Int8> = -20...10

    /// The features of the LMP: the controller supports LE, and BR/EDR not at all.
    ///
    /// Source: Core Specification, Vol 2, Part C, 3.3.
    func features(page: UInt8) -> [UInt8] {
        page == 0
            ? [0, 0, 0, 0, 0x60, 0, 0, 0x80]
            : [state.isLEHostSupported ? 0x02 : 0, 0, 0, 0, 0, 0, 0, 0]
    }

    func readExtendedFeatures(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        let last: UInt8 = 1
        let page = try cursor.take(in: 0...last)
        return [page, last] + features(page: page)
    }

    mutating func writeLEHostSupport(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let isSupported = try cursor.takeFlag()
        // The second parameter is ignored on receipt.
        state.isLEHostSupported = isSupported
    }

    func bufferSize() -> [UInt8] {
        [UInt8(Self.maximumPacketLength), 0, 0, configuration.bufferCount, 0, 0, 0]
    }

    func leBufferSize() -> [UInt8] { [UInt8(Self.maximumPacketLength), 0, configuration.bufferCount] }

    func readLETransmitPower() -> [UInt8] {
        [Self.transmitPower.lowerBound, Self.transmitPower.upperBound].map { UInt8(bitPattern: $0) }
    }

    func readTransmitPowerLevel(_ cursor: inout ByteCursor) throws(HCIStatus) -> [UInt8] {
        _ = try link(&cursor)
        // The current level, or the maximum: the same.
        _ = try cursor.take(in: UInt8(0)...1)
        return [UInt8(bitPattern: Self.transmitPower.upperBound)]
    }
}
