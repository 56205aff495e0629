/// Properties of the controller that do not change.
enum LocalInformation {
    /// Version 5.2, and a company without a number.
    ///
    /// Source: Core Specification, Vol 4, Part E, 7.4.1; Assigned Numbers, 2.1 and 7.
    static let version: [UInt8] = [0x0B, 0, 0, 0x0B, 0xFF, 0xFF]
    static let subversion: [UInt8] = [0, 0]

    /// The features of the LMP: LE, no BR/EDR, and a page of the host's features.
    ///
    /// Source: Core Specification, Vol 2, Part C, 3.3.
    static let features: [UInt8] = [0, 0, 0, 0, 0x60, 0, 0, 0x80]

    /// The features of the Link Layer, in eight octets.
    static let lowEnergyFeatures = LowEnergyFeatures.supported.rawValue.bytes

    /// All states and roles, and all combinations of them.
    ///
    /// Source: Core Specification, Vol 4, Part E, 7.8.27.
    static let supportedStates: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0]

    /// The transmit power in dBm.
    static let transmitPower: ClosedRange<Int8> = -20...10
    static let minimumTransmitPower = UInt8(bitPattern: transmitPower.lowerBound)
    static let maximumTransmitPower = UInt8(bitPattern: transmitPower.upperBound)
}
