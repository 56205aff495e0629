import BluetoothBackend
import BluetoothHCI
import BluetoothSupport
import ChildProcesses
import Foundation
import Testing

@testable import BluetoothCapture

/// The reading of files as they were written, and the reports of malformed ones, with the byte and the rule.
@Suite struct CaptureReaderTests {
    private static let hosts = [
        CapturedHost(name: "default", address: HCIAddress(bits: 0x0011_2233_4455, isRandom: false)),
        CapturedHost(name: "phone", address: HCIAddress(bits: 0xAABB_CCDD_EEFF, isRandom: false)),
    ]
    /// The date 2026-11-22, in whole microseconds, as in btsnoop.
    private static let time: CaptureTime = 1_795_305_600_000_001_000

    private static let packets: [CapturedPacket] = [
        CapturedPacket(host: 0, time: time, packet: .readAddress),
        CapturedPacket(host: 0, time: time + 1_000, packet: .addressRead(hosts[0].address)),
        CapturedPacket(
            host: 1, time: time + 2_000,
            packet: HCIPacket(connection: 0x40, channel: 4, payload: [0x1B, 0x0C, 0, 6, 60], isReceived: true)),
        CapturedPacket(
            host: 0, time: time + 3_000,
            packet: HCIPacket(connection: 0x40, channel: 4, payload: [0x0A, 0x0C, 0], isReceived: false)),
    ]

    private func file(_ format: CaptureFormat) -> [UInt8] {
        var encoder = format.makeEncoder(comment: "seed 7")
        var bytes = encoder.header
        for host in Self.hosts { bytes += encoder.encode(.host(host)) }
        bytes += encoder.encode(.note("lost", at: Self.time))
        for packet in Self.packets { bytes += encoder.encode(.packet(packet)) }
        return bytes + encoder.end(at: Self.time)
    }

    private func records(_ bytes: [UInt8]) throws -> [CaptureRecord] {
        var reader = try CaptureReader(bytes, file: "air")
        var records: [CaptureRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    private func packets(_ bytes: [UInt8]) throws -> [CapturedPacket] {
        try records(bytes).compactMap { if case .packet(let packet) = $0 { packet } else { nil } }
    }

    private func notes(_ bytes: [UInt8]) throws -> [CaptureRecord] {
        try records(bytes).filter { if case .note = $0 { true } else { false } }
    }

    private func hostNames(_ bytes: [UInt8]) throws -> [String] {
        try records(bytes).compactMap { if case .host(let host) = $0 { host.name } else { nil } }
    }

    @Test func whatTheWritersWriteIsReadBack() throws {
        // The note before it is a comment of the first packet.
        var commented = Self.packets
        commented[0] = CapturedPacket(
            host: 0, time: commented[0].time, packet: commented[0].packet, comment: "lost")
        #expect(try packets(file(.pcapng)) == commented && notes(file(.pcapng)) == [.note("seed 7", at: 0)])
        #expect(try hostNames(file(.pcapng)) == ["default", "phone"])
        #expect(try packets(file(.btsnoop)) == Self.packets && hostNames(file(.btsnoop)) == ["hci0", "hci1"])
        #expect(try notes(file(.btsnoop)) == [.note("lost", at: Self.time)])
    }

    /// The same section with the other byte order, a resolution of microseconds and of 1/1024 s, and unknown blocks.
    @Test func pcapngOfOtherWritersIsRead() throws {
        func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(bigEndian: type)
            bytes.append(bigEndian: UInt32(body.count + 12))
            bytes += body
            bytes.append(bigEndian: UInt32(body.count + 12))
            return bytes
        }
        func interface(_ linkType: UInt8, _ options: [UInt8] = []) -> [UInt8] {
            block(1, [0, linkType, 0, 0, 0, 0, 0, 0] + options)
        }
        let section = block(0x0A0D_0D0A, [0x1A, 0x2B, 0x3C, 0x4D, 0, 1, 0, 0] + [UInt8](repeating: 0xFF, count: 8))
        let data: [UInt8] = [0, 0, 0, 1, 4, 0x05, 0x04, 0, 0x40, 0, 0x13, 0]
        let packet = block(6, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 11, 0, 0, 0, 11] + data)
        let unframed = block(6, [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 4, 0, 0, 0, 4, 1, 9, 0x10, 0])
        let ethernet = block(6, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 4, 1, 9, 0x10, 0])
        let bytes =
            section + interface(1) + interface(201) + interface(187, [0, 9, 0, 1, 0x8A, 0, 0, 0])
            + block(77, [1, 2, 3, 4])
            + packet + ethernet + unframed
        let found = try packets(bytes)
        #expect(found.map(\.host) == [0, 1] && found.map(\.time) == [1_024_000, 2_000_000_000])
        #expect(
            found[0].packet == HCIPacket.disconnectionComplete(0x40, reason: 0x13) && found[1].packet == .readAddress)
    }

    @Test func btsnoopOfAndroidAndOfUnframedStacksIsRead() throws {
        func file(_ linkType: UInt8, _ records: [(flags: UInt8, data: [UInt8])]) -> [UInt8] {
            var bytes = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, linkType]
            for record in records {
                let length = [0, 0, 0, UInt8(record.data.count)]
                bytes +=
                    length + length + [0, 0, 0, record.flags, 0, 0, 0, 0] + [0, 0xDC, 0xDD, 0xB3, 0x0F, 0x2F, 0x80, 1]
                bytes += record.data
            }
            return bytes
        }
        let command = HCIPacket.readAddress
        let event = HCIPacket.addressRead(Self.hosts[0].address)
        let acl = HCIPacket(connection: 0x40, channel: 4, payload: [0x13], isReceived: true)
        let uart = file(
            0xEA,
            [(2, [1] + command.body), (3, [4] + event.body), (1, [2] + acl.body), (0, [3, 1, 2]), (0, [])])
        let unframed = file(0xE9, [(2, command.body), (3, event.body), (1, acl.body)])
        for bytes in [uart, unframed] {
            let found = try packets(bytes)
            #expect(found.map(\.packet) == [command, event, acl] && found.allSatisfy { $0.time == 1_000 })
        }
    }

    @Test func pcapIsRead() throws {
        var bytes = pcap(linkType: 201, [[0, 0, 0, 0, 1, 9, 0x10, 0]])
        let found = try packets(bytes)
        #expect(found.map(\.packet) == [.readAddress] && found.map(\.time) == [1_000_002_000])
        bytes[20] = 1
        let error = #expect(throws: CaptureReadError.self) { try packets(bytes) }
        #expect(
            "\(error?.description ?? "")"
                == "air: byte 20: the link type is 1: 187 and 201, of Bluetooth HCI, can be read")
    }

    /// The packets of ``packets`` and a text, as PacketLogger writes them.
    private func packetLog(isLittleEndian: Bool) -> [UInt8] {
        func integer(_ value: UInt32) -> [UInt8] {
            withUnsafeBytes(of: isLittleEndian ? value.littleEndian : value.bigEndian) { Array($0) }
        }
        func record(_ type: UInt8, _ body: [UInt8], at time: CaptureTime) -> [UInt8] {
            integer(UInt32(body.count + 9)) + integer(UInt32(time / 1_000_000_000))
                + integer(UInt32(time % 1_000_000_000 / 1_000)) + [type] + body
        }
        let packets = Self.packets.flatMap { packet in
            let type: UInt8 =
                switch packet.packet.kind {
                case .command: 0
                case .event: 1
                case .acl: packet.packet.isReceived ? 3 : 2
                }
            return record(type, packet.packet.body, at: packet.time)
        }
        return record(0xFC, Array("begun\0".utf8), at: Self.time) + record(8, [1, 2, 3], at: Self.time) + packets
    }

    @Test(arguments: [false, true]) func packetLoggerIsReadInEitherByteOrder(isLittleEndian: Bool) throws {
        let bytes = packetLog(isLittleEndian: isLittleEndian)
        #expect(try packets(bytes).map(\.packet) == Self.packets.map(\.packet))
        #expect(try packets(bytes).map(\.time) == Self.packets.map(\.time))
        #expect(try notes(bytes) == [.note("begun", at: Self.time)])
        var reader = try CaptureReader(bytes, file: "air")
        while try reader.next() != nil {}
        #expect(reader.otherPacketCount == 1, "audio")
        for length in 13..<bytes.count {
            var reader = try CaptureReader(Array(bytes.prefix(length)), file: "air")
            var count = 0
            do throws(CaptureReadError) {
                while let record = try reader.next() { if case .packet = record { count += 1 } }
            } catch {
                #expect(error.offset <= length && error.rule.contains("cut off"), "\(error)")
            }
            #expect(count < Self.packets.count)
        }
        var wrong = bytes
        wrong.replaceSubrange(19..<23, with: [0xFF, 0xFF, 0xFF, 0xFF])
        let error = #expect(throws: CaptureReadError.self) { try packets(wrong) }
        #expect("\(error?.description ?? "")" == "air: byte 19: a record has 9 to 1048576 bytes")
    }

    #if os(Linux)
    private static let editcap = "/usr/bin/editcap"
    /// Whether editcap is installed, as in continuous integration; without it, the test is skipped.
    private static let hasEditcap =
        FileManager.default.isExecutableFile(atPath: editcap) || ProcessInfo.processInfo.environment["CI"] == "true"

    @Test(.enabled(if: hasEditcap, "editcap is part of tshark"))
    func whatWiresharkConvertsIsRead() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let original = folder.appendingPathComponent("air.pcapng")
        try Data(file(.pcapng)).write(to: original)
        for format in ["btsnoop", "pcap", "nsecpcap", "pcapng"] {
            let copy = folder.appendingPathComponent("copy.\(format)")
            let outcome = try await ChildProcess.run(Self.editcap, ["-F", format, original.path, copy.path])
            #expect(outcome.status == 0, "\(outcome.output)")
            let found = try packets(Array(Data(contentsOf: copy)))
            #expect(found.map(\.packet) == Self.packets.map(\.packet), "\(format)")
            #expect(found.map(\.time) == Self.packets.map(\.time), "\(format)")
        }
    }

    /// Wireshark reads the same packets from a file of PacketLogger, which it cannot write.
    @Test(.enabled(if: hasEditcap, "tshark is not installed"), arguments: [false, true])
    func wiresharkReadsTheSameOfPacketLogger(isLittleEndian: Bool) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pklg")
        try Data(packetLog(isLittleEndian: isLittleEndian)).write(to: file)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        let fields = ["frame.time_epoch", "bthci_cmd.opcode", "bthci_evt.code", "btatt.opcode"].flatMap { ["-e", $0] }
        let filter = "bthci_cmd or bthci_evt or btatt"
        let outcome = try await ChildProcess.run(
            "/usr/bin/tshark", ["-r", file.path, "-Y", filter, "-T", "fields", "-E", "separator=,"] + fields)
        let lines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("1795305600.") }
        let expected = ["001,0x1009,,", "002,,0x0e,", "003,,,0x1b", "004,,,0x0a"].map { "1795305600.000\($0)" }
        #expect(lines.map { String($0).replacing("000,", with: ",") } == expected, "\(outcome.output)")
    }
    #endif

    // MARK: Malformed files

    @Test(arguments: CaptureFormat.allCases)
    func aFileThatIsCutOffIsReadUntilThere(format: CaptureFormat) throws {
        let whole = file(format)
        for length in 0..<whole.count {
            guard length > 0, var reader = try? CaptureReader(Array(whole.prefix(length)), file: "air") else {
                continue
            }
            var found: [CapturedPacket] = []
            do throws(CaptureReadError) {
                while let record = try reader.next() { if case .packet(let packet) = record { found.append(packet) } }
            } catch {
                #expect(error.offset <= length && error.rule.contains("cut off"), "\(error)")
            }
            #expect(found.map(\.packet) == Self.packets.prefix(found.count).map(\.packet))
        }
    }

    @Test func pcapThatIsCutOffIsReadUntilThere() throws {
        let whole = pcap(linkType: 201, [[0, 0, 0, 0, 1, 9, 0x10, 0], [0, 0, 0, 1, 4, 5, 4, 0, 0x40, 0, 0x13]])
        var complete = 0
        for length in 0..<whole.count {
            guard var reader = try? CaptureReader(Array(whole.prefix(length)), file: "air") else {
                #expect(length < 24)
                continue
            }
            var found = 0
            do throws(CaptureReadError) {
                while let record = try reader.next() { if case .packet = record { found += 1 } }
                complete += 1
            } catch {
                #expect(error.offset <= length && error.rule.contains("cut off"), "\(error)")
            }
            #expect(found == (length < 48 ? 0 : 1))
        }
        #expect(complete == 2, "after the header, and after the first packet")
    }

    // MARK: Directions

    private func pcap(linkType: UInt8, _ packets: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + [UInt8](repeating: 0, count: 8)
        bytes += [0xFF, 0xFF, 0, 0, linkType, 0, 0, 0]
        for packet in packets {
            let length = [UInt8(packet.count), 0, 0, 0]
            bytes += [1, 0, 0, 0, 2, 0, 0, 0] + length + length + packet
        }
        return bytes
    }

    /// Link type 187 has no directions: the first part of data shows its own by the boundary flag, and later parts
    /// follow it.
    @Test func withoutDirectionsLaterPartsGoWhereTheFirstWent() throws {
        let received = HCIPacket(connection: 0x40, channel: 4, payload: [0x1B, 0x0C, 0, 6, 60], isReceived: true).body
        let sent = HCIPacket(connection: 0x41, channel: 4, payload: [0x0A, 0x0C, 0], isReceived: false).body
        let packets = [
            [2] + received, [2, 0x40, 0x10, 1, 0, 9], [2] + sent, [2, 0x41, 0x10, 1, 0, 9],
            [2, 0x40, 0x10, 1, 0, 9], [1, 9, 0x10, 0], [4, 5, 4, 0, 0x40, 0, 0x13], [9],
        ]
        let bytes = pcap(linkType: 187, packets)
        #expect(try self.packets(bytes).map(\.packet.isReceived) == [true, true, false, false, true, false, true])
        var reader = try CaptureReader(bytes, file: "air")
        while try reader.next() != nil {}
        #expect(reader.otherPacketCount == 1)
    }

    /// A pcapng file may give the direction beside a packet of link type 187.
    @Test func theFlagsOfAPacketGiveItsDirection() throws {
        var encoder = PcapngEncoder(comment: "")
        var bytes = encoder.header + encoder.encode(.host(Self.hosts[0]))
        for isReceived in [true, false] {
            let packet = HCIPacket(kind: .acl, isReceived: isReceived, body: [0x40, 0x10, 1, 0, 9])
            bytes += encoder.encode(.packet(CapturedPacket(host: 0, time: Self.time, packet: packet)))
        }
        // The layout is that of link type 187, whose packets begin with their type.
        let position = try #require(bytes.indices.first { bytes[$0...].starts(with: [201, 0, 0, 0, 0, 0, 0, 0]) })
        bytes[position] = 187
        for index in bytes.indices where bytes[index...].starts(with: [2, 0x40, 0x10, 1, 0, 9]) {
            bytes.replaceSubrange(index - 4..<index + 6, with: [2, 0x40, 0x10, 1, 0, 9, 0, 0, 0, 0])
        }
        #expect(try packets(bytes).map(\.packet.isReceived) == [true, false])
    }

    @Test(arguments: [
        ([], "byte 0: a capture is a file of the formats pcapng, pcap, btsnoop or pklg"),
        (Array("btsnoop\0".utf8), "byte 0: the file is cut off in its header"),
        (Array("btsnoop\0".utf8) + [0, 0, 0, 2, 0, 0, 7, 0xD1], "byte 8: this is version 2 of btsnoop: 1 can be read"),
        (
            Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0, 1],
            "byte 12: the link type is 1: 1001, 1002 and 2001 can be"
        ),
        ([0x0A, 0x0D, 0x0D, 0x0A, 0, 0, 0, 0, 9, 9, 9, 9], "byte 8: a section gives its byte order as 1A2B3C4D"),
        (
            [0x0A, 0x0D, 0x0D, 0x0A, 8, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A],
            "byte 4: a block has 12 to 16777216 bytes, in fours"
        ),
        (
            [0x0A, 0x0D, 0x0D, 0x0A, 0xF0, 0xFF, 0xFF, 0xFF, 0x4D, 0x3C, 0x2B, 0x1A],
            "byte 4: a block has 12 to 16777216 bytes, in fours"
        ),
        (
            [0x0A, 0x0D, 0x0D, 0x0A, 16, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 20, 0, 0, 0],
            "byte 12: a block ends with the length with which it begins"
        ),
    ])
    func aMalformedFileIsReportedWithItsByteAndRule(bytes: [UInt8], message: String) {
        let error = #expect(throws: CaptureReadError.self) { try records(bytes) }
        #expect(error?.description.hasPrefix("air: \(message)") == true, "\(error?.description ?? "none")")
    }

    @Test func aPacketOfNoInterfaceIsReported() throws {
        let bytes =
            PcapngEncoder(comment: "").header + [6, 0, 0, 0, 32, 0, 0, 0] + [UInt8](repeating: 0, count: 20) + [
                32, 0, 0, 0,
            ]
        let error = #expect(throws: CaptureReadError.self) { try records(bytes) }
        #expect(error?.rule == "a packet is of an interface that the section describes before")
    }

    @Test func moreInterfacesAndAdaptersThanTheBoundAreRefused() throws {
        var pcapng = PcapngEncoder(comment: "")
        var bytes = pcapng.header
        for _ in 0...256 { bytes += pcapng.encode(.host(Self.hosts[0])) }
        #expect(
            #expect(throws: CaptureReadError.self) { try records(bytes) }?.rule
                == "a section has 256 interfaces or fewer")
        var btsnoop = BTSnoopEncoder()
        bytes = btsnoop.header
        for _ in 0...256 { _ = btsnoop.encode(.host(Self.hosts[0])) }
        bytes += btsnoop.end(at: 0)
        #expect(
            #expect(throws: CaptureReadError.self) { try records(bytes) }?.rule == "a capture has 256 adapters or fewer"
        )
    }
}
