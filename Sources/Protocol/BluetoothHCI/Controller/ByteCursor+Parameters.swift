/// Parameters of commands; missing bytes and values out of range throw Invalid HCI Command Parameters.
extension ByteCursor {
    mutating func take<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(HCIStatus) -> Value {
        guard let value = littleEndian(type) else { throw .invalidCommandParameters }
        return value
    }

    mutating func take<Value: FixedWidthInteger>(in range: ClosedRange<Value>) throws(HCIStatus) -> Value {
        let value = try take(Value.self)
        guard range.contains(value) else { throw .invalidCommandParameters }
        return value
    }

    mutating func take(bytes count: Int) throws(HCIStatus) -> [UInt8] {
        guard let bytes = next(count) else { throw .invalidCommandParameters }
        return Array(bytes)
    }

    mutating func takeFlag() throws(HCIStatus) -> Bool { try take(in: UInt8(0)...1) == 1 }

    /// Reads a connection handle.
    mutating func takeHandle() throws(HCIStatus) -> UInt16 { try take(in: 0...Controller.maximumHandle) }

    /// Reads a type, 0 or 1, and an address.
    mutating func takeAddress() throws(HCIStatus) -> HCIAddress {
        let isRandom = try takeFlag()
        return try takeAddress(isRandom: isRandom)
    }

    mutating func takeAddress(isRandom: Bool) throws(HCIStatus) -> HCIAddress {
        guard let address = HCIAddress(&self, isRandom: isRandom) else { throw .invalidCommandParameters }
        return address
    }

    /// Reads the interval, of which the controller uses the longest, the latency and the supervision timeout.
    mutating func takeConnectionParameters() throws(HCIStatus) -> HCIConnectionParameters {
        let shortest = try take(in: UInt16(6)...3200)
        let interval = try take(in: shortest...3200)
        let latency = try take(in: UInt16(0)...499)
        let timeout = try take(in: UInt16(10)...3200)
        // Longer than two intervals at which the peripheral listens; in units of 10 ms and 1.25 ms.
        guard 4 * Int(timeout) > (1 + Int(latency)) * Int(interval) else { throw .invalidCommandParameters }
        return HCIConnectionParameters(
            interval: .microseconds(1_250) * Int(interval), latency: Int(latency),
            supervisionTimeout: .milliseconds(10) * Int(timeout))
    }

    /// Reads the shortest and the longest length of connection events, which the Link Layer chooses itself.
    mutating func skipEventLengths() throws(HCIStatus) {
        let shortest = try take(UInt16.self)
        _ = try take(in: shortest...UInt16.max)
    }
}
