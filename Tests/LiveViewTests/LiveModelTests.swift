import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator
@testable import LiveView

/// The state of a world and its events, from the events of a tap.
@Suite struct LiveModelTests {
    private static let service = TappedService(
        handles: 10...12, uuid: "180D", isPrimary: true, included: [],
        characteristics: [
            TappedCharacteristic(
                declarationHandle: 11, valueHandle: 12, properties: [.notify], uuid: "2A37", descriptors: [])
        ])

    /// Returns a model of one host and one device with a link.
    private static func connected() -> LiveModel {
        var model = LiveModel()
        for kind in [host(isPowered: true), device("Heart"), services, connection, .began] {
            #expect(model.events(for: TapEvent(time: .zero, kind: kind)) == [])
        }
        return model
    }

    private static func host(isPowered: Bool, port: HostPort? = nil) -> TapEvent.Kind {
        .hostAdded(
            TappedHost(
                index: 0, name: "default", isAnonymous: false, identityAddress: "00:00:00:00:00:01",
                address: "00:00:00:00:00:01", state: isPowered ? .poweredOn : .poweredOff, isPowered: isPowered,
                isPlugged: true, isResetting: false, authorization: .allowed,
                isExternal: port != nil, port: port))
    }

    private static func device(_ name: String, _ proximity: Proximity = .near) -> TapEvent.Kind {
        .deviceChanged(
            TappedDevice(
                number: 7, host: nil, name: name, identityAddress: "C0:00:00:00:00:07", address: "C0:00:00:00:00:07",
                proximity: proximity, rssi: nil, isOn: true, advertising: []))
    }

    private static let services = TapEvent.Kind.servicesChanged(device: 7, [service])

    private static let connection = TapEvent.Kind.connectionOpened(
        TappedConnection(
            link: 3, central: .init(host: 0, peer: nil, address: "00:00:00:00:00:01", identityAddress: nil),
            peripheral: .init(host: nil, peer: nil, address: "C0:00:00:00:00:07", identityAddress: nil), device: 7,
            parameters: ConnectionParameters(interval: .milliseconds(30)), mtu: 185, phy: .le1M, dataLength: 251,
            security: .plain, sharedLink: nil, knowsServices: false))

    private func events(_ model: inout LiveModel, _ kind: TapEvent.Kind) -> [LiveEvent.Kind] {
        model.events(for: TapEvent(time: .seconds(1), kind: kind))
    }

    private func lines(_ events: [LiveEvent.Kind]) -> [LiveLogLine] {
        events.compactMap { if case .log(let line) = $0 { line } else { nil } }
    }

    @Test func aPacketHasItsOperationAndALinkSaysWhetherItIsEncrypted() {
        var model = Self.connected()
        let request = lines(events(&model, .att(link: 3, .request(.read(handle: 12), sentAt: .zero))))
        #expect(request.map(\.operation) == [.read])
        for (level, isEncrypted) in [(SecurityLevel.bonded, false), (.encrypted, true), (.plain, false)] {
            _ = events(&model, .securityChanged(link: 3, level))
            #expect(model.liveLinks.map(\.isEncrypted) == [isEncrypted])
        }
    }

    @Test func dataOfAChannelIsALineWithItsDirection() {
        var model = Self.connected()
        _ = events(&model, .channelOpened(link: 3, ChannelID(rawValue: 9), psm: 128, credits: 100))
        let sent = lines(events(&model, .channelData(ChannelID(rawValue: 9), from: .central, Data([1, 2]))))
        #expect(sent.map(\.operation) == [.channel])
        #expect(sent.map(\.direction) == [.toDevice])
        #expect(model.liveLinks.map(\.sentBytes) == [2])
    }

    @Test func theStateIsThatOfTheTap() throws {
        var model = Self.connected()
        #expect(model.liveHosts.map(\.state) == [.poweredOn])
        #expect(model.liveDevices.map(\.links) == [1])
        #expect(model.liveLinks.map(\.interval) == [0.03])
        _ = events(&model, Self.host(isPowered: false))
        _ = events(&model, Self.device("Heart", .outOfRange))
        #expect(model.liveHosts.map(\.state) == [.poweredOff])
        #expect(model.liveDevices.map(\.signal) == [nil])
        #expect(events(&model, .deviceRemoved(device: 7)) == [.deviceRemoved(7)])
        #expect(model.liveDevices == [])
    }

    @Test func aHostOutsideOfTheEmulatorHasItsPortAndWhetherItIsAttached() {
        var model = Self.connected()
        #expect(model.liveHosts.map(\.port) == [nil])
        for isAttached in [false, true] {
            let port = HostPort(address: .tcp(port: 9033), isAttached: isAttached)
            _ = events(&model, Self.host(isPowered: true, port: port))
            #expect(model.liveHosts.map(\.port) == ["tcp:127.0.0.1:9033"])
            #expect(model.liveHosts.map(\.isAttached) == [isAttached])
        }
    }

    @Test func aReadIsTwoLinesWithThePathAndTheMeaning() throws {
        var model = Self.connected()
        let request = lines(events(&model, .att(link: 3, .request(.read(handle: 12), sentAt: .zero))))
        let response = lines(events(&model, .att(link: 3, .response(.value(Data([0, 72]))))))
        #expect(request.map(\.text) == ["Read Heart Rate Measurement (180D/2A37)"])
        #expect(request.map(\.direction) == [.toDevice])
        #expect(response.map(\.value) == ["0048"])
        #expect(response.map(\.meaning) == ["72 bpm"])
        #expect(response.map(\.device) == [7])
        let link = try #require(model.liveLinks.first)
        let counts: [Int] = [link.sent, link.received, link.sentBytes, link.receivedBytes]
        #expect(counts == [1, 1, 0, 2])
    }

    @Test func anErrorAndALossAreProblems() {
        var model = Self.connected()
        _ = events(&model, .att(link: 3, .request(.write(handle: 12, Data([1])), sentAt: .zero)))
        let error = lines(events(&model, .att(link: 3, .response(.error(ATTCode(rawValue: 0x80))))))
        #expect(error.map(\.text) == ["Write Heart Rate Measurement (180D/2A37) failed: ATT error 0x80"])
        #expect(error.map(\.isProblem) == [true])
        let loss = events(&model, .packetsLost(link: 3, count: 2))
        #expect(lines(loss).map(\.isProblem) == [true])
        #expect(model.liveLinks.map(\.lost) == [2])
        let end = events(&model, .connectionClosed(link: 3, side: .central, .timeout))
        #expect(end.first == .linkClosed(3, .timeout))
        #expect(lines(end).map(\.isProblem) == [true])
        #expect(lines(end).map(\.text) == ["Link lost: supervision timeout (0x08)"])
        #expect(model.liveLinks == [])
        #expect(events(&model, .att(link: 3, .notification(handle: 12, Data()))) == [])
    }

    @Test func aWriteFromAnOffsetNamesItsFirstByteAndHasNoMeaning() {
        var model = Self.connected()
        let request = lines(
            events(&model, .att(link: 3, .request(.write(handle: 12, Data([0, 72]), offset: 2), sentAt: .zero))))
        #expect(request.map(\.text) == ["Write Heart Rate Measurement (180D/2A37) from byte 2"])
        #expect(request.map(\.value) == ["0048"] && request.map(\.meaning) == [nil])
        let response = lines(events(&model, .att(link: 3, .response(.written))))
        #expect(response.map(\.text) == ["Write Heart Rate Measurement (180D/2A37) from byte 2: done"])
    }

    @Test func aSubscriptionIsNamedAfterItsCharacteristic() {
        var model = LiveModel()
        let configuration = TappedDescriptor(handle: 13, uuid: "2902")
        let service = TappedService(
            handles: 10...13, uuid: "180D", isPrimary: true, included: [],
            characteristics: [
                TappedCharacteristic(
                    declarationHandle: 11, valueHandle: 12, properties: [.notify], uuid: "2A37",
                    descriptors: [configuration])
            ])
        for kind in [
            Self.host(isPowered: true), Self.device("Heart"), .servicesChanged(device: 7, [service]), Self.connection,
            .began,
        ] { _ = events(&model, kind) }
        let request = lines(
            events(&model, .att(link: 3, .request(.write(handle: 13, Data([1, 0])), sentAt: .zero))))
        #expect(request.map(\.text) == ["Subscribe to notifications of Heart Rate Measurement (180D/2A37)"])
    }

    @Test func aBondIsALineOfItsDevice() {
        var model = Self.connected()
        let bond = HostBond(
            peer: PeerID(UUID()), address: "C0:00:00:00:00:07",
            identityAddress: "C0:00:00:00:00:07", isAuthenticated: false)
        let line = lines(events(&model, .bondMade(host: 0, bond)))
        #expect(line.map(\.device) == [7])
        #expect(line.map(\.text) == ["Bonded"])
        let removal = events(
            &model, .bondRemoved(host: 0, peer: bond.peer, identityAddress: "C0:00:00:00:00:08"))
        #expect(lines(removal).map(\.text) == ["Bond removed: C0:00:00:00:00:08"])
    }

    @Test func aSecondsTrafficIsReportedAndThenItsEnd() throws {
        var model = Self.connected()
        #expect(model.takeTraffic() == nil)
        let packet = TappedAdvertisingPacket(
            device: 7, set: 0, address: "C0:00:00:00:00:07", isScanResponse: false, data: AdvertisingData(),
            isConnectable: true, isExtended: false, rssi: -60, receptions: [], missedBy: [])
        #expect(events(&model, .advertising(packet)) == [])
        _ = events(&model, .advertising(packet))
        #expect(model.takeTraffic() == .traffic(air: [7: 2], []))
        _ = events(&model, .att(link: 3, .notification(handle: 12, Data([0, 1]))))
        #expect(model.takeTraffic() == .traffic(air: [:], model.liveLinks))
        #expect(model.takeTraffic() == .traffic(air: [:], []))
        #expect(model.takeTraffic() == nil)
    }

    @Test func eachEventIsALineOfJSONThatIsReadBack() throws {
        let model = Self.connected()
        let kinds: [LiveEvent.Kind] = [
            .host(model.liveHosts[0]), .device(model.liveDevices[0]), .deviceRemoved(7), .services(7),
            .link(model.liveLinks[0]), .linkClosed(3, .remote),
            .log(
                LiveLogLine(category: .att, host: 0, device: 7, link: 3, direction: .toDevice, text: "read", value: "")),
            .traffic(air: [7: 10], model.liveLinks), .clock(LiveClock(isOurs: true, isPaused: false, rate: 1)),
            .capture(LiveCapture(isRunning: true, packets: 3)), .dropped(2), .heartbeat,
        ]
        for kind in kinds {
            let event = LiveEvent(sequence: 1, time: 0.5, kind)
            #expect(try JSONDecoder().decode(LiveEvent.self, from: JSONEncoder().encode(event)) == event)
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(LiveEvent.self, from: Data(#"{"kind":"odd"}"#.utf8))
        }
    }
}

/// The last events of a world, and their readers.
@Suite struct EventLogTests {
    @Test func aReaderGetsEachEventOnce() async {
        let log = EventLog()
        log.append([.services(1), .services(2)], at: 1)
        #expect(log.events(after: 0).map(\.sequence) == [1, 2])
        #expect(log.events(after: 1).map(\.kind) == [.services(2)])
        #expect(log.events(after: 2) == [])
        #expect(log.events(after: .max) == [])
    }

    @Test func aReaderThatFallsBehindLearnsHowManyItMissed() {
        let log = EventLog()
        for _ in 0..<EventLog.limit + 25 { log.append([.services(1)], at: 0) }
        let events = log.events(after: 5)
        #expect(events.first?.kind == .dropped(20))
        #expect(events.dropFirst().first?.sequence == 26)
        #expect(events.count == 1_001)
    }

    @Test func aReaderWaitsForTheNextEventAndForTheEnd() async {
        let log = EventLog()
        async let isGoingOn = log.wait(after: 0)
        log.append([.services(1)], at: 0)
        #expect(await isGoingOn)
        async let isWoken = log.wait(after: 0)
        #expect(await isWoken)
        let waiting = Task { await log.wait(after: 1) }
        waiting.cancel()
        #expect(await waiting.value == false)
        log.close()
        #expect(await log.wait(after: 1) == false)
    }
}
