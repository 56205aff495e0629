/// Parameters of commands; missing bytes and values out of range throw Invalid HCI Command Parameters.
extension ByteCursor {
    mutating func read<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(HCIStatus) -> Value {
        guard let value = littleEndian(type) else { throw .invalidCommandParameters }
        return value
    }

    mutating func read<Value: FixedWidthInteger>(in range: ClosedRange<Value>) throws(HCIStatus) -> Value {
        let value = try read(Value.self)
        guard range.contains(value) else { throw .invalidCommandParameters }
        return value
    }

    mutating func read(bytes count: Int) throws(HCIStatus) -> [UInt8] {
        guard let bytes = next(count) else { throw .invalidCommandParameters }
        return Array(bytes)
    }

    mutating func readFlag() throws(HCIStatus) -> Bool { try read(in: UInt8(0)...1) == 1 }

    /// Reads a connection handle.
    mutating func readHandle() throws(HCIStatus) -> UInt16 { try read(in: 0...Controller.maximumHandle) }

    /// Reads a type, 0 or 1, and an address.
    mutating func readAddress() throws(HCIStatus) -> HCIAddress {
        let isRandom = try readFlag()
        return try readAddress(isRandom: isRandom)
    }

    mutating func readAddress(isRandom: Bool) throws(HCIStatus) -> HCIAddress {
        guard let address = HCIAddress(&self, isRandom: isRandom) else { throw .invalidCommandParameters }
        return address
    }

    /// Reads the interval, of which the controller uses the longest, the latency and the supervision timeout.
    mutating func readConnectionParameters() throws(HCIStatus) -> HCIConnectionParameters {
        let shortest = try read(in: UInt16(6)...3200)
        let interval = try read(in: shortest...3200)
        let latency = try read(in: UInt16(0)...499)
        let timeout = try read(in: UInt16(10)...3200)
        // Longer than two intervals at which the peripheral listens; in units of 10 ms and 1.25 ms.
        guard 4 * Int(timeout) > (1 + Int(latency)) * Int(interval) else { throw .invalidCommandParameters }
        return HCIConnectionParameters(
            interval: .microseconds(1_250) * Int(interval), latency: Int(latency),
            supervisionTimeout: .milliseconds(10) * Int(timeout))
    }

    /// Reads the shortest and the longest length of connection events, which the Link Layer chooses itself.
    mutating func skipEventLengths() throws(HCIStatus) {
        let shortest = try read(UInt16.self)
        _ = try read(in: shortest...UInt16.max)
    }

    /// Reads a peer: a type, 0 to 3 with those of identity addresses, and an address.
    mutating func readPeer() throws(HCIStatus) -> HCIAddress {
        let type = try read(in: UInt8(0)...3)
        return try readAddress(isRandom: type & 1 == 1)
    }

    /// Reads a key of 16 bytes, least significant first.
    mutating func readKey() throws(HCIStatus) -> [UInt8] { try read(bytes: 16).reversed() }

    /// Reads an interval of three bytes.
    mutating func readLongInterval() throws(HCIStatus) -> UInt32 {
        let low = try read(UInt16.self)
        return UInt32(try read(UInt8.self)) << 16 | UInt32(low)
    }

    /// Reads the interval and the window of a scan, of which the Link Layer needs neither.
    mutating func skipScanTiming(_ range: ClosedRange<UInt16>) throws(HCIStatus) {
        let interval = try read(in: range)
        _ = try read(in: range.lowerBound...interval)
    }

    /// Reads the map of the three primary channels, of which the Link Layer needs none.
    mutating func skipPrimaryChannels() throws(HCIStatus) { _ = try read(in: UInt8(1)...7) }

    /// Reads the filter policy of a scan: whether packets of devices outside of the accept list are ignored.
    ///
    /// The policies for directed packets to unresolvable addresses are not supported.
    mutating func readScanFilterPolicy() throws(HCIStatus) -> Bool {
        let policy = try read(in: UInt8(0)...3)
        guard policy < 2 else { throw .unsupportedFeatureOrParameterValue }
        return policy == 1
    }

    /// Reads the filter policy of a set: whether centrals outside of the accept list are ignored.
    mutating func readAdvertisingFilterPolicy() throws(HCIStatus) -> Bool {
        // Bit 0 filters scan requests, which the Link Layer answers for all.
        try read(in: UInt8(0)...3) & 2 != 0
    }
}
