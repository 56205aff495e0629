import BluetoothHCI

/// Reads btsnoop files of Android (H4), of other stacks (H1), and of btmon, with an adapter for each host.
///
/// A record has 1 MiB at most, and a file of btmon 256 adapters.
struct BTSnoopDecoder: CaptureDecoder {
    private enum LinkType: UInt32 {
        case unframed = 1001
        case uart = 1002
        case monitor = 2001
    }

    private static let maximumRecord: UInt32 = 1_048_576
    private static let maximumAdapters = 256

    private(set) var cursor: ByteCursor
    private let linkType: LinkType
    /// The numbers of the hosts, by adapter.
    private var hosts: [UInt16: Int] = [:]
    var records: [CaptureRecord] = []
    var otherPacketCount = 0

    init(_ bytes: [UInt8]) throws(CaptureMistake) {
        cursor = ByteCursor(bytes)
        guard cursor.next(8) != nil, let version = cursor.bigEndian(UInt32.self),
            let type = cursor.bigEndian(UInt32.self)
        else { throw CaptureMistake(0, "the file is cut off in its header") }
        guard version == 1 else { throw CaptureMistake(8, "this is version \(version) of btsnoop: 1 can be read") }
        guard let known = LinkType(rawValue: type) else {
            throw CaptureMistake(12, "the link type is \(type): 1001, 1002 and 2001 can be read")
        }
        linkType = known
        if linkType != .monitor { records = [.unnamedHost] }
    }

    mutating func read() throws(CaptureMistake) {
        let start = cursor.offset
        guard cursor.next(4) != nil, let length = cursor.bigEndian(UInt32.self),
            let flags = cursor.bigEndian(UInt32.self), cursor.next(4) != nil, let stamp = cursor.bigEndian(Int64.self)
        else { throw CaptureMistake(start, "the file is cut off in this record") }
        guard length <= Self.maximumRecord else {
            throw CaptureMistake(start + 4, "a record has \(Self.maximumRecord) bytes or fewer")
        }
        guard let data = cursor.next(Int(length)) else {
            throw CaptureMistake(start, "the file is cut off in this record")
        }
        let time = Self.time(stamp)
        switch linkType {
        case .monitor: try readMonitor(data, flags, time, start)
        case .uart: add(data, flags, time)
        case .unframed:
            // Bit 0: received; bit 1: a command or an event.
            let type: UInt8 = flags & 2 == 0 ? 2 : flags & 1 == 1 ? 4 : 1
            add([type] + data, flags, time)
        }
    }

    private mutating func add(_ data: ArraySlice<UInt8>, _ flags: UInt32, _ time: CaptureTime) {
        add(CapturedPacket(uart: data, host: 0, time: time) { _, _ in flags & 1 == 1 })
    }

    /// Converts microseconds since year 0 into nanoseconds since 1970; earlier times become 0.
    private static func time(_ stamp: Int64) -> CaptureTime {
        let (microseconds, isTooSmall) = stamp.subtractingReportingOverflow(Int64(BTSnoopEncoder.epoch))
        guard !isTooSmall, microseconds > 0 else { return 0 }
        return UInt64(microseconds).multipliedReportingOverflow(by: 1_000).partialValue
    }

    // MARK: btmon

    private mutating func readMonitor(
        _ data: ArraySlice<UInt8>, _ flags: UInt32, _ time: CaptureTime, _ offset: Int
    ) throws(CaptureMistake) {
        let (opcode, adapter) = (flags & 0xFFFF, UInt16(truncatingIfNeeded: flags >> 16))
        let kind: HCIPacket.Kind
        switch opcode {
        case 0: return try addHost(adapter, data, offset)
        case 13: return addNote(data, time)
        case 2: kind = .command
        case 3: kind = .event
        case 4, 5: kind = .acl
        default: return
        }
        if hosts[adapter] == nil { try addHost(adapter, [], offset) }
        let packet = HCIPacket(kind: kind, isReceived: opcode == 3 || opcode == 5, body: Array(data))
        add(CapturedPacket(host: hosts[adapter] ?? 0, time: time, packet: packet))
    }

    /// Adds an adapter; one that was unplugged and returns keeps its number.
    private mutating func addHost(_ adapter: UInt16, _ data: ArraySlice<UInt8>, _ offset: Int) throws(CaptureMistake) {
        guard hosts[adapter] == nil else { return }
        guard hosts.count < Self.maximumAdapters else {
            throw CaptureMistake(offset, "a capture has \(Self.maximumAdapters) adapters or fewer")
        }
        hosts[adapter] = hosts.count
        var data = ByteCursor(data)
        _ = data.next(2)
        let address = HCIAddress(&data, isRandom: false) ?? HCIAddress(bits: 0, isRandom: false)
        let name = String(decoding: data.rest.prefix { $0 != 0 }, as: UTF8.self)
        records.append(.host(CapturedHost(name: name.isEmpty ? "hci\(adapter)" : name, address: address)))
    }

    /// Adds a line of a log: the priority, the length of the program's name, that name, the text.
    private mutating func addNote(_ data: ArraySlice<UInt8>, _ time: CaptureTime) {
        var data = ByteCursor(data)
        guard data.byte() != nil, let length = data.byte(), data.next(Int(length)) != nil else { return }
        records.append(.note(String(decoding: data.rest.prefix { $0 != 0 }, as: UTF8.self), at: time))
    }
}
