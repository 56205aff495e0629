import BluetoothBackend
import BluetoothCapture
import BluetoothSupport
import BluetoothTracing
import Foundation
import Testing

@testable import BluetoothEmulator

/// The app's point of view: commands and events of a central manager as packets.
@Suite struct SessionTapTests {
    private static let peer = PeerID(UUID())
    private static let link = LinkID(rawValue: 7)

    private func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    private func operation(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }

    /// Returns the packets of a session with a message every 10 ms.
    private func packets(_ contents: [ObservedMessage.Content]) -> [HCIPacket] {
        var tap = SessionTap()
        var capture = PacketCapture(origin: 0)
        var records: [CaptureRecord] = []
        for (index, content) in contents.enumerated() {
            let message = ObservedMessage(role: 1, backend: "bluez", time: .milliseconds(10 * index), content)
            for event in tap.events(message) { records += capture.handle(event) }
        }
        records += capture.finish()
        return records.compactMap { if case .packet(let packet) = $0 { packet.packet } else { nil } }
    }

    /// Returns the packets of the Attribute Protocol; `<` marks those of the program.
    private func att(_ contents: [ObservedMessage.Content]) -> [String] {
        packets(Self.opening + contents).compactMap { packet in
            guard case .data(_, _, let bytes)? = HCIMessage(packet), bytes.count > 4, bytes[2] == 4,
                let pdu = ATTPDU(Array(bytes.dropFirst(4)))
            else { return nil }
            return "\(packet.isReceived ? ">" : "<") \(pdu)"
        }
    }

    private static let opening: [ObservedMessage.Content] = [
        .event(
            .discovered(
                Discovery(
                    peer: peer, name: "Heart", advertisement: Advertisement(localName: "Heart", serviceUUIDs: ["180D"]),
                    rssi: -60, address: "C0:DE:00:00:18:0D"))),
        .event(
            .connected(
                peer: peer, link: link, operation: OperationID(rawValue: 1),
                parameters: LinkParameters(mtu: 23, writeCredits: 1))),
    ]

    private func ask(_ number: UInt64, _ request: LinkRequest) -> ObservedMessage.Content {
        .command(.request(link: Self.link, operation: operation(number), request))
    }

    private func answer(_ number: UInt64, _ response: LinkResponse) -> ObservedMessage.Content {
        .event(.response(link: Self.link, operation: operation(number), response))
    }

    private var discovery: [ObservedMessage.Content] {
        [
            ask(2, .discoverServices(nil)),
            answer(2, .services([ServiceRecord(id: id(1), uuid: "180D", isPrimary: true, handle: 8)])),
            ask(3, .discoverCharacteristics(of: id(1), nil)),
            answer(
                3,
                .characteristics([
                    CharacteristicRecord(id: id(2), uuid: "2A37", properties: [.notify], handle: 10),
                    CharacteristicRecord(id: id(3), uuid: "2A38", properties: [.read, .indicate], handle: 13),
                ])),
        ]
    }

    @Test func aDiscoveryIsAnAdvertisingReportAndAConnectIsAConnection() throws {
        let found = packets(Self.opening).compactMap { HCIMessage($0) }
        guard
            case .advertising(let reports)? = found.first(where: { if case .advertising = $0 { true } else { false } }),
            case .connected(let connection)? = found.last
        else { throw Unexpected("\(found)") }
        #expect(Advertisement(structures: reports[0].data).localName == "Heart" && reports[0].rssi == -60)
        #expect(connection.peer.bits == 0xC0DE_0000_180D && connection.isCentral)
    }

    @Test func discoveriesHaveTheHandlesOfTheRecords() {
        let found = att(discovery)
        #expect(found.contains { $0.contains("> readByGroupTypeResponse") && $0.contains("8...65535") }, "\(found)")
        #expect(found.contains { $0.hasPrefix("< readByTypeRequest") })
        #expect(found.contains { $0.hasPrefix("> readByTypeResponse") }, "\(found)")
    }

    @Test func readsWritesErrorsAndNotificationsAreThePacketsOfTheirHandles() {
        let session =
            discovery + [
                ask(4, .read(id(3))), answer(4, .value(Data([1]))),
                ask(5, .write(id(3), Data([2]))), answer(5, .failure(.att(3, operation: "write"))),
                .command(.writeCommand(link: Self.link, attribute: id(3), value: Data([4]))),
                .event(.valueNotified(link: Self.link, attribute: id(2), value: Data([6, 60]))),
                .event(.valueNotified(link: Self.link, attribute: id(3), value: Data([7]))),
            ]
        #expect(
            att(session).suffix(8) == [
                "< readRequest(13)", "> readResponse([1])", "< writeRequest(13, [2])",
                "> error(request: 18, handle: 13, code: 3)", "< writeCommand(13, [4])", "> notification(10, [6, 60])",
                "> indication(13, [7])", "< confirmation",
            ])
    }

    @Test func aSubscriptionWritesTheConfigurationThatWasDiscoveredOrTheOneBehindTheValue() {
        let subscribed = discovery + [ask(4, .setNotifying(id(2), true)), answer(4, .notifying(true))]
        let found = att(subscribed).suffix(4)
        #expect(found.first?.contains("11...11") == true, "\(found)")
        #expect(found.suffix(2) == ["< writeRequest(11, [1, 0])", "> writeResponse"])
        let known =
            discovery + [
                ask(4, .discoverDescriptors(of: id(3))),
                answer(4, .descriptors([DescriptorRecord(id: id(4), uuid: "2902", handle: 15)])),
                ask(5, .setNotifying(id(3), true)), answer(5, .notifying(true)),
            ]
        #expect(att(known).suffix(2) == ["< writeRequest(15, [2, 0])", "> writeResponse"])
    }

    @Test func requestsThatWaitAreSentOneAfterTheOther() {
        let session =
            discovery + [
                ask(4, .read(id(3))), ask(5, .read(id(2))), answer(4, .value(Data([1]))), answer(5, .value(Data([2]))),
                ask(6, .read(id(3))), ask(7, .read(id(2))), answer(7, .value(Data([3]))), answer(6, .value(Data([4]))),
            ]
        #expect(
            att(session).suffix(8) == [
                "< readRequest(13)", "> readResponse([1])", "< readRequest(10)", "> readResponse([2])",
                "< readRequest(10)", "> readResponse([3])", "< readRequest(13)", "> readResponse([4])",
            ], "\(att(session).suffix(8))")
    }

    @Test func anMTUThatIsAgreedOnMeanwhileFollowsTheRequest() {
        let session =
            discovery + [
                ask(4, .read(id(3))), .event(.mtuChanged(link: Self.link, mtu: 185)), answer(4, .value(Data([1]))),
            ]
        #expect(
            att(session).suffix(4) == [
                "< readRequest(13)", "> readResponse([1])", "< mtuRequest(185)", "> mtuResponse(185)",
            ])
    }

    @Test func attributesWithoutHandlesGetSome() {
        let session: [ObservedMessage.Content] = [
            ask(2, .discoverServices(nil)),
            answer(2, .services([ServiceRecord(id: id(1), uuid: "180D", isPrimary: true)])),
            ask(3, .discoverCharacteristics(of: id(1), nil)),
            answer(3, .characteristics([CharacteristicRecord(id: id(2), uuid: "2A37", properties: [.read])])),
            ask(4, .read(id(2))), answer(4, .value(Data([1]))),
        ]
        #expect(att(session).suffix(2) == ["< readRequest(32770)", "> readResponse([1])"])
    }

    @Test func anEndOfTheLinkAndOfTheManagerIsADisconnection() {
        let end = HCIPacket.disconnectionComplete(0x40, reason: 0x08)
        let closed = CentralEvent.disconnected(link: Self.link, reason: .timeout, at: Date(), isReconnecting: false)
        #expect(packets(Self.opening + [.event(closed)]).last == end)
        #expect(packets(Self.opening + [.ended]).last == HCIPacket.disconnectionComplete(0x40, reason: 0x16))
    }

    @Test func channelsCarryTheirBytes() {
        let channel = ChannelID(rawValue: 3)
        let session: [ObservedMessage.Content] = [
            ask(2, .openChannel(psm: 0x81)), answer(2, .channel(channel, credits: 1_000)),
            .command(.channel(channel, .send(Data([1, 2])))), .event(.channel(channel, .received(Data([3])))),
            .event(.channel(channel, .closed)),
        ]
        let found = packets(Self.opening + session)
        #expect(found.contains { !$0.isReceived && $0.body.suffix(4) == [2, 0, 1, 2] })
        #expect(found.contains { $0.isReceived && $0.body.suffix(3) == [1, 0, 3] })
    }

    @Test func whatIsAskedOfAnUnknownLinkOrAttributeIsLeftOut() {
        #expect(packets([ask(1, .read(id(9))), answer(1, .value(Data()))]).count == 2, "the address alone")
        #expect(att([ask(2, .read(id(9))), answer(2, .value(Data()))]) == [])
    }
}
