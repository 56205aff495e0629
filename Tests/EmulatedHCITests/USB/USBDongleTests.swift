import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// Core Specification, Vol 4, Part B; Linux, `Documentation/usb/usbip_protocol.rst`.
struct USBDongleTests {
    private static let reset: [UInt8] = [0x03, 0x0C, 0]
    private static let classRequest: [UInt8] = [0x20, 0, 0, 0, 0, 0, 3, 0]
    private static let (events, data): (UInt32, UInt32) = (1, 2)

    private static func event(_ length: Int) -> HCIPacket {
        HCIPacket(event: 0x0E, (0..<length - 2).map { UInt8(truncatingIfNeeded: $0) })
    }

    private static func acl(_ length: Int, _ fill: UInt8 = 7) -> HCIPacket {
        let body = [0x40, 0, UInt8((length - 4) & 0xFF), UInt8((length - 4) >> 8)]
        return HCIPacket(
            kind: .acl, isReceived: true, body: body + [UInt8](repeating: fill, count: length - 4))
    }

    // MARK: To the controller

    @Test func aClassRequestIsACommand() {
        var host = USBHost.configured
        #expect(host.control(1, Self.classRequest, Self.reset) == .sent(1, 3))
        #expect(host.packets == [HCIPacket(kind: .command, isReceived: false, body: Self.reset)])
    }

    /// Composite devices get it for the interface, and the number of the request was 0xE0 once.
    @Test(arguments: [0x20, 0x21] as [UInt8], [0, 0xE0] as [UInt8])
    func aCommandIsForTheDeviceOrItsInterface(_ type: UInt8, _ request: UInt8) {
        var host = USBHost.configured
        #expect(host.control(1, [type, request, 0, 0, 0, 0, 3, 0], Self.reset) == .sent(1, 3))
        #expect(host.packets.count == 1)
    }

    @Test(arguments: [[0x22, 0], [0x40, 0], [0xA0, 0]] as [[UInt8]])
    func aRequestForAnEndpointOrOfAVendorIsNoCommand(_ request: [UInt8]) {
        var host = USBHost.configured
        let data = request[0] & 0x80 == 0 ? Self.reset : []
        #expect(host.control(1, request + [0, 0, 0, 0, 3, 0], data) == .failed(1, -32))
        #expect(host.packets.isEmpty)
    }

    @Test func aTransferToTheDataEndpointIsOnePacket() {
        var host = USBHost.configured
        let packets = [Self.acl(9), Self.acl(64), Self.acl(255), Self.acl(1_025)].map(\.body)
        for (number, packet) in packets.enumerated() {
            #expect(host.write(UInt32(number), endpoint: Self.data, packet) == [.sent(UInt32(number), packet.count)])
        }
        #expect(host.packets == packets.map { HCIPacket(kind: .acl, isReceived: false, body: $0) })
    }

    @Test func anEmptyTransferToTheDataEndpointIsNoPacket() {
        var host = USBHost.configured
        #expect(host.write(1, endpoint: Self.data, []) == [.sent(1, 0)])
        #expect(host.packets.isEmpty)
    }

    @Test(arguments: 1...64) func requestsArriveInFragmentsOfAnySize(_ size: Int) {
        var host = USBHost.configured
        var stream = host.submit(1, endpoint: 0, isIn: false, length: 3, setup: Self.classRequest, data: Self.reset)
        stream += host.submit(2, endpoint: Self.events, isIn: true, length: 16)
        stream += host.submit(3, endpoint: Self.data, isIn: false, length: 100, data: Self.acl(100).body)
        stream += USBHost.unlink(4, 2)
        var replies: [USBHost.Reply] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            replies += host.send(Array(stream[start..<min(start + size, stream.count)]))
        }
        #expect(replies == [.sent(1, 3), .sent(3, 100), .unlinked(4, -104)])
        #expect(host.packets.map(\.body) == [Self.reset, Self.acl(100).body])
        #expect(host.failure == nil)
    }

    // MARK: From the controller

    @Test func anEventArrivesInPiecesOfTheEndpoint() {
        var host = USBHost.configured
        let event = Self.event(36)
        for number in 1...4 { #expect(host.read(UInt32(number), endpoint: Self.events, room: 16) == []) }
        #expect(
            host.deliver(event) == [
                .submitted(1, Array(event.body[..<16])), .submitted(2, Array(event.body[16..<32])),
                .submitted(3, Array(event.body[32...])),
            ])
        #expect(host.deliver(Self.event(3)) == [.submitted(4, Self.event(3).body)])
    }

    @Test func eventsWaitForTransfersInTheirOrder() {
        var host = USBHost.configured
        #expect(host.deliver(Self.event(20)) == [])
        #expect(host.deliver(Self.event(4)) == [])
        #expect(host.read(1, endpoint: Self.events, room: 16) == [.submitted(1, Array(Self.event(20).body[..<16]))])
        #expect(host.read(2, endpoint: Self.events, room: 16) == [.submitted(2, Array(Self.event(20).body[16...]))])
        #expect(host.read(3, endpoint: Self.events, room: 16) == [.submitted(3, Self.event(4).body)])
        #expect(host.read(4, endpoint: Self.events, room: 16) == [])
    }

    /// A short packet ends a transfer, so that two events never share one.
    @Test func aTransferContainsNoMoreThanOnePacket() {
        var host = USBHost.configured
        _ = host.deliver(Self.event(20))
        _ = host.deliver(Self.event(4))
        #expect(host.read(1, endpoint: Self.events, room: 64) == [.submitted(1, Self.event(20).body)])
        #expect(host.read(2, endpoint: Self.events, room: 64) == [.submitted(2, Self.event(4).body)])
    }

    @Test func aBufferTakesWholePiecesAlone() {
        var host = USBHost.configured
        let packet = Self.acl(200)
        _ = host.deliver(packet)
        #expect(host.read(1, endpoint: Self.data, room: 150) == [.submitted(1, Array(packet.body[..<128]))])
        #expect(host.read(2, endpoint: Self.data, room: 72) == [.submitted(2, Array(packet.body[128...]))])
    }

    @Test func aBufferThatIsTooSmallForAPieceOverflowsAndLosesNothing() {
        var host = USBHost.configured
        let packet = Self.acl(70)
        _ = host.deliver(packet)
        #expect(host.read(1, endpoint: Self.data, room: 63) == [.failed(1, -75)])
        #expect(host.read(2, endpoint: Self.data, room: 1_028) == [.submitted(2, packet.body)])
    }

    @Test func eventsAndDataHaveEndpointsOfTheirOwn() {
        var host = USBHost.configured
        #expect(host.read(1, endpoint: Self.events, room: 16) == [])
        #expect(host.read(2, endpoint: Self.data, room: 1_028) == [])
        #expect(host.deliver(Self.acl(40)) == [.submitted(2, Self.acl(40).body)])
        #expect(host.deliver(Self.event(6)) == [.submitted(1, Self.event(6).body)])
    }

    // MARK: Unlinking

    @Test func aWaitingTransferIsUnlinkedAndReceivesNothing() {
        var host = USBHost.configured
        #expect(host.read(1, endpoint: Self.events, room: 16) == [])
        #expect(host.read(2, endpoint: Self.events, room: 16) == [])
        #expect(host.read(3, endpoint: Self.data, room: 64) == [])
        #expect(host.unlink(4, transfer: 1) == [.unlinked(4, -104)])
        #expect(host.unlink(5, transfer: 3) == [.unlinked(5, -104)])
        #expect(host.unlink(6, transfer: 1) == [.unlinked(6, 0)], "it is unlinked once")
        #expect(host.deliver(Self.event(5)) == [.submitted(2, Self.event(5).body)])
        #expect(host.deliver(Self.acl(9)) == [])
    }

    @Test func aTransferThatHasEndedIsNotUnlinked() {
        var host = USBHost.configured
        _ = host.deliver(Self.event(5))
        #expect(host.read(1, endpoint: Self.events, room: 16) == [.submitted(1, Self.event(5).body)])
        #expect(host.write(2, endpoint: Self.data, Self.acl(9).body) == [.sent(2, 9)])
        for transfer in [1, 2, 99] as [UInt32] {
            #expect(host.unlink(10 + transfer, transfer: transfer) == [.unlinked(10 + transfer, 0)])
        }
    }

    /// A host that suspends the port unlinks its transfers first, and submits them again when it resumes.
    @Test func aSuspendedDongleIsQuietAndLosesNothing() {
        var host = USBHost.configured
        _ = host.read(1, endpoint: Self.events, room: 16)
        _ = host.read(2, endpoint: Self.data, room: 64)
        _ = host.unlink(3, transfer: 1)
        _ = host.unlink(4, transfer: 2)
        #expect(host.deliver(Self.event(5)) == [])
        #expect(host.deliver(Self.acl(9)) == [])
        #expect(host.control(5, [0x80, 0, 0, 0, 0, 0, 2, 0]) == .submitted(5, [0, 0]))
        #expect(host.read(6, endpoint: Self.events, room: 16) == [.submitted(6, Self.event(5).body)])
        #expect(host.read(7, endpoint: Self.data, room: 64) == [.submitted(7, Self.acl(9).body)])
    }

    // MARK: Endpoints

    @Test func endpointsStallBeforeTheConfigurationIsChosen() {
        var host = USBHost()
        #expect(host.read(1, endpoint: Self.events, room: 16) == [.failed(1, -32)])
        #expect(host.read(2, endpoint: Self.data, room: 64) == [.failed(2, -32)])
        #expect(host.write(3, endpoint: Self.data, Self.acl(9).body) == [.failed(3, -32)])
        #expect(host.packets.isEmpty)
    }

    @Test(arguments: 3...15) func otherEndpointsStall(_ endpoint: UInt32) {
        var host = USBHost.configured
        #expect(host.read(1, endpoint: endpoint, room: 64) == [.failed(1, -32)])
        #expect(host.write(2, endpoint: endpoint, [1, 2, 3]) == [.failed(2, -32)])
        #expect(host.write(3, endpoint: Self.events, [1, 2, 3]) == [.failed(3, -32)], "events are not sent to it")
    }

    @Test func transfersOfAHaltedEndpointStallUntilItIsCleared() {
        var host = USBHost.configured
        #expect(host.read(1, endpoint: Self.events, room: 16) == [])
        #expect(host.read(2, endpoint: Self.data, room: 64) == [])
        let halt = host.submit(3, endpoint: 0, isIn: false, length: 0, setup: [2, 3, 0, 0, 0x81, 0, 0, 0])
        #expect(host.send(halt) == [.sent(3, 0), .failed(1, -32)])
        #expect(host.read(4, endpoint: Self.events, room: 16) == [.failed(4, -32)])
        #expect(host.control(5, [0x82, 0, 0, 0, 0x81, 0, 2, 0]) == .submitted(5, [1, 0]))
        #expect(host.control(6, [0x82, 0, 0, 0, 0x82, 0, 2, 0]) == .submitted(6, [0, 0]))
        #expect(host.deliver(Self.event(5)) == [])
        #expect(host.control(7, [2, 1, 0, 0, 0x81, 0, 0, 0]) == .sent(7, 0))
        #expect(host.read(8, endpoint: Self.events, room: 16) == [.submitted(8, Self.event(5).body)])
        #expect(host.deliver(Self.acl(9)) == [.submitted(2, Self.acl(9).body)], "the other endpoint went on")
    }

    // MARK: What is malformed

    @Test(arguments: [
        (
            USBHost.submit(1, endpoint: 0, direction: 2, length: 0, setup: []),
            "a transfer for endpoint 0 in direction 2"
        ),
        (
            USBHost.submit(1, endpoint: 16, direction: 0, length: 0, setup: []),
            "a transfer for endpoint 16 in direction 0"
        ),
        (USBHost.submit(1, endpoint: 2, direction: 0, length: -1, setup: []), "a transfer of -1 bytes"),
        (USBHost.submit(1, endpoint: 2, direction: 1, length: .max, setup: []), "a transfer of 2147483647 bytes"),
        (
            USBHost.submit(1, endpoint: 3, direction: 1, length: 9, packets: 1, setup: []), "an isochronous transfer"
        ),
        ([0, 0, 0, 3], "a request of type 3, which USB/IP does not have"),
        ([0xFF, 0, 0, 1], "a request of type 4278190081, which USB/IP does not have"),
    ])
    func bytesThatAreNoRequestEndTheConnection(_ bytes: [UInt8], _ reason: String) {
        var host = USBHost.configured
        let header = bytes + [UInt8](repeating: 0, count: 48 - bytes.count)
        let first = host.submit(1, endpoint: 0, isIn: false, length: 3, setup: Self.classRequest, data: Self.reset)
        #expect(host.send(first + header) == [.sent(1, 3)], "what precedes them is handled")
        #expect(host.packets.count == 1)
        #expect(host.failure == "it sent \(reason)")
    }

    /// The number of packets is -1 for other transfers by the protocol's description, and 0 in Linux.
    @Test(arguments: [0, -1] as [Int32]) func aTransferHasNoIsochronousPackets(_ packets: Int32) {
        var host = USBHost.configured
        let setup = [UInt8](repeating: 0, count: 8)
        #expect(
            host.send(USBHost.submit(1, endpoint: 1, direction: 1, length: 16, packets: packets, setup: setup)) == [])
        #expect(host.failure == nil)
    }

    // MARK: Bounds

    @Test func aHostThatSubmitsMoreTransfersThanTheDongleKeepsIsDisconnected() {
        var host = USBHost.configured
        for number in 0..<UInt32(USBInEndpoint.maximumTransfers) {
            _ = host.read(number, endpoint: Self.events, room: 16)
        }
        #expect(host.failure == nil)
        #expect(host.read(999, endpoint: Self.events, room: 16) == [])
        #expect(host.failure == "it sent more transfers than the dongle keeps")
    }

    @Test func aHostThatDoesNotReadItsDataIsDisconnected() {
        var host = USBHost.configured
        let packet = Self.acl(65_536)
        for _ in 0..<USBInEndpoint.maximumBytes / 65_536 { _ = host.deliver(packet) }
        #expect(host.control(1, [0x80, 8, 0, 0, 0, 0, 1, 0]) == .submitted(1, [1]))
        #expect(host.failure == nil)
        _ = host.deliver(Self.acl(4))
        #expect(host.control(2, [0x80, 8, 0, 0, 0, 0, 1, 0]) == nil)
        #expect(host.failure == "it does not read what its controller sends")
    }

    @Test func whatTheHostHasReadMakesRoom() {
        var host = USBHost.configured
        let packet = Self.acl(65_536)
        for number in 0..<UInt32(2 * USBInEndpoint.maximumBytes / 65_536) {
            _ = host.deliver(packet)
            #expect(host.read(number, endpoint: Self.data, room: 65_536) == [.submitted(number, packet.body)])
        }
        #expect(host.control(9_999, [0x80, 8, 0, 0, 0, 0, 1, 0]) == .submitted(9_999, [1]))
        #expect(host.failure == nil)
    }

    /// A host may leave a scan on when it goes to sleep.
    @Test(arguments: [0x02, 0x0B, 0x0D] as [UInt8])
    func advertisingReportsThatNobodyReadsAreDropped(_ subevent: UInt8) {
        var host = USBHost.configured
        let report = HCIPacket(lowEnergy: subevent, [UInt8](repeating: 1, count: 29))
        let others = [
            HCIPacket(lowEnergy: 0x01, [UInt8](repeating: 2, count: 29)), HCIPacket(event: 0x0E, [subevent, 1, 2, 3]),
        ]
        for _ in 0..<200_000 { _ = host.deliver(report) }
        for other in others { _ = host.deliver(other) }
        let kept = USBInEndpoint.reportLimit / 32
        for number in 0..<UInt32(kept) {
            #expect(host.read(number, endpoint: Self.events, room: 64) == [.submitted(number, report.body)])
        }
        for other in others {
            #expect(host.read(99_999, endpoint: Self.events, room: 64) == [.submitted(99_999, other.body)])
        }
        #expect(host.failure == nil)
    }

    // MARK: Random input

    @Test(arguments: 0..<100) func whatTheControllerSendsArrivesInOrder(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "dongle")
        var host = USBHost.configured
        var (sent, received, number) = ([[UInt8]](), [UInt8](), UInt32(0))
        var waiting: Set<UInt32> = []
        func add(_ replies: [USBHost.Reply]) {
            for reply in replies where reply.kind == 3 {
                waiting.remove(reply.number)
                received += reply.data
            }
        }
        for _ in 0..<300 {
            switch generator.below(4) {
            case 0:
                sent.append(Self.event(Int(3 + generator.below(250))).body)
                add(host.deliver(HCIPacket(kind: .event, isReceived: true, body: sent[sent.count - 1])))
            case 1:
                number += 1
                if let transfer = waiting.sorted().first {
                    #expect(host.unlink(number, transfer: transfer) == [.unlinked(number, -104)])
                    waiting.remove(transfer)
                }
            default:
                number += 1
                waiting.insert(number)
                add(host.read(number, endpoint: Self.events, room: Int(16 * (1 + generator.below(8)))))
            }
        }
        while received.count < sent.joined().count {
            number += 1
            add(host.read(number, endpoint: Self.events, room: 16))
        }
        #expect(received == Array(sent.joined()))
        #expect(host.failure == nil)
    }

    @Test(arguments: 0..<200) func noInputStopsTheDongle(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "hostile dongle")
        func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(generator.below(256)) } }
        var dongle = USBDongle()
        for number in 0..<UInt32(200) {
            let endpoint = UInt32(generator.below(5))
            let direction = UInt32(generator.below(2))
            let length = Int(generator.below(80))
            var setup = random(8)
            // Mostly standard requests, with small values.
            if generator.below(3) > 0 {
                setup = setup.enumerated().map { $0.offset == 0 ? $0.element & 0x83 : $0.element & 0x0F }
            }
            var bytes =
                USBHost.submit(number, endpoint: endpoint, direction: direction, length: Int32(length), setup: setup)
                + (direction == 0 ? random(length) : [])
            if generator.below(4) == 0 { bytes = USBHost.unlink(number, UInt32(generator.below(200))) }
            if generator.below(100) == 0 {
                bytes[Int(generator.below(UInt64(bytes.count)))] ^= UInt8(generator.below(256))
            }
            if dongle.receive(bytes[...]).failure != nil { dongle = USBDongle() }
            _ = dongle.send(HCIPacket(event: 0x0E, random(Int(generator.below(60)))))
            _ = dongle.send(HCIPacket(kind: .acl, isReceived: true, body: random(Int(generator.below(300)))))
        }
    }
}
