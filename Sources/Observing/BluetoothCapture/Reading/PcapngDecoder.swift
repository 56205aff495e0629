import BluetoothHCI

/// Reads pcapng: sections of either byte order, and the packets of their interfaces with Bluetooth HCI.
///
/// A block has 16 MiB at most, and a section 256 interfaces; packets of other link types are counted and skipped.
struct PcapngDecoder: CaptureDecoder {
    private static let maximumBlock: UInt32 = 16_777_216
    private static let maximumInterfaces = 256
    private static let byteOrder: UInt32 = 0x1A2B_3C4D

    private struct Interface: Sendable {
        /// The number of the host; nil for another link type.
        var host: Int?
        var hasDirection = false
        /// The number of time units per second.
        var resolution: UInt64 = 1_000_000
    }

    private(set) var cursor: ByteCursor
    private var isLittleEndian = true
    private var interfaces: [Interface] = []
    private var hostCount = 0
    private var directions = UARTDirections()
    var records: [CaptureRecord] = []
    var otherPacketCount = 0

    init(_ bytes: [UInt8]) { cursor = ByteCursor(bytes) }

    mutating func read() throws(CaptureMistake) {
        let start = cursor.offset
        guard let type = integer(UInt32.self, &cursor) else { throw CaptureMistake(start, Self.cutOff) }
        // A section's type is the same in both byte orders; the section itself determines the order.
        if type == Self.section {
            var ahead = cursor
            guard ahead.next(4) != nil, let order = ahead.littleEndian(UInt32.self) else {
                throw CaptureMistake(start, Self.cutOff)
            }
            guard order == Self.byteOrder || order.byteSwapped == Self.byteOrder else {
                throw CaptureMistake(start + 8, "a section gives its byte order as 1A2B3C4D")
            }
            isLittleEndian = order == Self.byteOrder
            interfaces = []
        }
        guard let length = integer(UInt32.self, &cursor) else { throw CaptureMistake(start, Self.cutOff) }
        guard length >= 12, length <= Self.maximumBlock, length % 4 == 0 else {
            throw CaptureMistake(start + 4, "a block has 12 to \(Self.maximumBlock) bytes, in fours")
        }
        guard let body = cursor.next(Int(length) - 12), let again = integer(UInt32.self, &cursor) else {
            throw CaptureMistake(start, Self.cutOff)
        }
        guard again == length else {
            throw CaptureMistake(start + Int(length) - 4, "a block ends with the length with which it begins")
        }
        switch type {
        case Self.section: try readSection(body)
        case 1: try readInterface(body)
        case 2: try readPacket(body, hasDropCount: true)
        case 3: try readSimplePacket(body)
        case 6: try readPacket(body, hasDropCount: false)
        default: break
        }
    }

    /// The type of a block that begins a section.
    private static let section: UInt32 = 0x0A0D_0D0A
    /// The options that contain a comment, and the flags of a packet.
    private static let comment: UInt16 = 1
    private static let flags: UInt16 = 2
    private static let cutOff = "the file is cut off in this block"

    private func integer<Value: FixedWidthInteger>(_ type: Value.Type, _ cursor: inout ByteCursor) -> Value? {
        isLittleEndian ? cursor.littleEndian(type) : cursor.bigEndian(type)
    }

    /// Reads a section, whose comments become notes.
    private mutating func readSection(_ body: ArraySlice<UInt8>) throws(CaptureMistake) {
        var body = ByteCursor(body)
        // Byte order, version and length of the section.
        guard body.next(16) != nil else { return }
        var comments: [String] = []
        try readOptions(&body) { code, value in
            if code == Self.comment { comments.append(String(decoding: value, as: UTF8.self)) }
        }
        records += comments.map { .note($0, at: 0) }
    }

    // MARK: Interfaces

    private mutating func readInterface(_ body: ArraySlice<UInt8>) throws(CaptureMistake) {
        var body = ByteCursor(body)
        let start = body.offset
        guard interfaces.count < Self.maximumInterfaces else {
            throw CaptureMistake(start, "a section has \(Self.maximumInterfaces) interfaces or fewer")
        }
        guard let linkType = integer(UInt16.self, &body), body.next(6) != nil else {
            throw CaptureMistake(start, "an interface has 8 bytes or more")
        }
        var interface = Interface()
        var name = "interface \(interfaces.count)"
        try readOptions(&body) { code, value in
            if code == 2 { name = String(decoding: value, as: UTF8.self) }
            if code == 9, let resolution = value.first { interface.resolution = Self.units(resolution) }
        }
        if let type = PcapLinkType(rawValue: UInt32(linkType)) {
            interface.hasDirection = type == .uartWithDirection
            interface.host = hostCount
            hostCount += 1
            records.append(.host(CapturedHost(name: name, address: HCIAddress(bits: 0, isRandom: false))))
        }
        interfaces.append(interface)
    }

    /// Returns the number of time units per second: a power of 10, or of 2 if the highest bit is set.
    private static func units(_ resolution: UInt8) -> UInt64 {
        let exponent = Int(resolution & 0x7F)
        if resolution & 0x80 != 0 { return 1 << UInt64(min(exponent, 63)) }
        return (0..<min(exponent, 19)).reduce(1) { units, _ in units * 10 }
    }

    private func readOptions(
        _ body: inout ByteCursor, _ receive: (UInt16, ArraySlice<UInt8>) -> Void
    ) throws(CaptureMistake) {
        while !body.isAtEnd {
            let start = body.offset
            guard let code = integer(UInt16.self, &body), let length = integer(UInt16.self, &body),
                let value = body.next(Int(length)), body.next(-Int(length) & 3) != nil
            else { throw CaptureMistake(start, "an option is longer than its block") }
            if code == 0 { return }
            receive(code, value)
        }
    }

    // MARK: Packets

    private mutating func readPacket(_ body: ArraySlice<UInt8>, hasDropCount: Bool) throws(CaptureMistake) {
        var body = ByteCursor(body)
        let start = body.offset
        let number =
            hasDropCount ? integer(UInt16.self, &body).map { UInt32($0) } : integer(UInt32.self, &body)
        if hasDropCount { _ = body.next(2) }
        guard let number, let high = integer(UInt32.self, &body), let low = integer(UInt32.self, &body),
            let captured = integer(UInt32.self, &body), integer(UInt32.self, &body) != nil
        else { throw CaptureMistake(start, "a packet has 20 bytes or more") }
        let interface = try interface(number, start)
        let length = Int(captured)
        guard let data = body.next(length), body.next(-length & 3) != nil else {
            throw CaptureMistake(start, "a packet is longer than its block")
        }
        var (comments, flags): ([String], UInt32) = ([], 0)
        try readOptions(&body) { code, value in
            if code == Self.comment { comments.append(String(decoding: value, as: UTF8.self)) }
            var value = ByteCursor(value)
            if code == Self.flags { flags = integer(UInt32.self, &value) ?? 0 }
        }
        // 1: inbound, 2: outbound, 0: unknown.
        add(
            data, interface, Self.time(UInt64(high) << 32 | UInt64(low), interface.resolution),
            isReceived: flags & 3 == 1 ? true : flags & 3 == 2 ? false : nil,
            comment: comments.isEmpty ? nil : comments.joined(separator: "\n"))
    }

    private mutating func readSimplePacket(_ body: ArraySlice<UInt8>) throws(CaptureMistake) {
        var body = ByteCursor(body)
        let start = body.offset
        guard let original = integer(UInt32.self, &body) else {
            throw CaptureMistake(start, "a packet has 4 bytes or more")
        }
        let length = min(Int(original), body.count)
        guard let data = body.next(length) else { throw CaptureMistake(start, "a packet is longer than its block") }
        add(data, try interface(0, start), 0)
    }

    private func interface(_ number: UInt32, _ offset: Int) throws(CaptureMistake) -> Interface {
        guard number < interfaces.count else {
            throw CaptureMistake(offset, "a packet is of an interface that the section describes before")
        }
        return interfaces[Int(number)]
    }

    private mutating func add(
        _ data: ArraySlice<UInt8>, _ interface: Interface, _ time: CaptureTime, isReceived: Bool? = nil,
        comment: String? = nil
    ) {
        guard let host = interface.host else { return add(nil) }
        var data = ByteCursor(data)
        let direction = interface.hasDirection ? data.bigEndian(UInt32.self) : nil
        let packet = CapturedPacket(uart: data.rest, host: host, time: time, comment: comment) { kind, body in
            direction.map { $0 & 1 == 1 } ?? isReceived ?? directions.isReceived(kind, body, host: host)
        }
        add(packet)
    }

    private static func time(_ units: UInt64, _ resolution: UInt64) -> CaptureTime {
        let (seconds, rest) = units.quotientAndRemainder(dividingBy: resolution)
        let fraction = rest.multipliedFullWidth(by: 1_000_000_000)
        let nanoseconds = resolution.dividingFullWidth(fraction).quotient
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isTooLarge ? .max : whole.addingReportingOverflow(nanoseconds).partialValue
    }
}
