import BluetoothBackend
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothEmulator

/// Tap events of links: the Attribute Protocol, pairing, channels.
@Suite struct TapLinkTests {
    // MARK: The Attribute Protocol

    @Test func aDiscoveryIsARequestWithItsRangeAndAResponseWithHandles() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        let recorder = TapRecorder(fixture.emulator, .att)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        // The host reads the name by itself.
        let name = recorder.att()
        #expect(name.first.map(isRequest) == .read(handle: 3))
        #expect(name.dropFirst() == [.response(.value(Data("Contract Peer".utf8)))])
        let found = try await fixture.attributes(link)
        let messages = recorder.att(from: 3)
        #expect(messages.first.map(isRequest) == .discoverServices)
        guard case .response(.services(let services)) = messages[1],
            case .response(.characteristics(let battery)) = messages[3]
        else { throw Unexpected("\(messages)") }
        // The response has all primary services, including those that apps do not see.
        #expect(services.map(\.uuid.text).prefix(3) == ["1800", "1801", "180F"] && services.count == 7)
        #expect(isRequest(messages[2]) == .discoverCharacteristics(in: 11...14))
        #expect(battery.map(\.valueHandle) == [13] && battery[0].descriptors.isEmpty)
        let (count, described) = (recorder.events.count, try found.characteristic(ContractPeer.uuid("010C")))
        _ = try await fixture.run(
            .request(link: link, operation: op(1), .discoverDescriptors(of: described)),
            .request(
                link: link, operation: op(2),
                .discoverIncludedServices(of: try found.service(ContractPeer.uuid("0001")), nil)))
        let rest = recorder.att(from: count)
        guard case .response(.descriptors(let descriptors)) = rest[1],
            case .response(.includedServices(let included)) = rest[3]
        else { throw Unexpected("\(rest)") }
        #expect(descriptors.map(\.uuid.text).prefix(2) == ["2901", "2904"])
        let handles = descriptors.map(\.handle)
        #expect(isRequest(rest[0]) == .discoverDescriptors(in: handles[0]...handles[2]))
        #expect(included.map(\.handle) == [16])
    }

    /// Returns the request in a message; nil if the message is not a request.
    private func isRequest(_ message: ATTMessage) -> ATTRequest? {
        if case .request(let request, _) = message { request } else { nil }
    }

    @Test func aRequestHasTheInstantOfItsConnectionEventAndAResponseThatOfItsArrival() async throws {
        let fixture = Fixture(.default)
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let found = try await fixture.attributes(link)
        try await fixture.emulator.advance(by: .milliseconds(20))
        let recorder = TapRecorder(fixture.emulator, .att)
        let start = fixture.emulator.now
        let id = try found.characteristic(ContractPeer.uuid("0106"))
        _ = try await fixture.run(.request(link: link, operation: op(1), .read(id)))
        let events = recorder.events.filter { $0.kind != .began }
        guard events.count == 2, case .att(_, .request(.read, let sentAt)) = events[0].kind else {
            throw Unexpected("\(events)")
        }
        #expect(events[0].time == start && sentAt > start && sentAt <= start + .milliseconds(50))
        // 300 bytes take one Read and one Read Blob.
        #expect(events[1].time == sentAt + .milliseconds(100))
        guard case .att(_, .response(.value(ContractPeer.long))) = events[1].kind else { throw Unexpected("\(events)") }
    }

    @Test func writesCommandsSubscriptionsAndValuesCarryHandleAndValue() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        let found = try await fixture.attributes(link)
        func handle(_ short: String) throws -> (AttributeID, UInt16) {
            let record = found.characteristics.first { $0.uuid == ContractPeer.uuid(short) }
            return (try #require(record).id, try #require(record?.handle))
        }
        let (written, command, notified, indicated) =
            (try handle("0101"), try handle("0102"), try handle("0103"), try handle("0104"))
        let recorder = TapRecorder(fixture.emulator, .att)
        _ = try await fixture.run(
            .request(link: link, operation: op(1), .write(written.0, Data([1, 2]))),
            .writeCommand(link: link, attribute: command.0, value: Data([3])),
            .request(link: link, operation: op(2), .setNotifying(notified.0, true)),
            .request(link: link, operation: op(3), .setNotifying(indicated.0, true)),
            .request(link: link, operation: op(4), .read(notified.0)))
        device.notify(CharacteristicPath(ContractPeer.uuid("0103")), value: Data([4]))
        device.notify(CharacteristicPath(ContractPeer.uuid("0104")), value: Data([5]))
        device.removeService("180F")
        try await fixture.emulator.runUntilIdle()
        let now = fixture.emulator.now
        #expect(
            recorder.att() == [
                .request(.write(handle: written.1, Data([1, 2])), sentAt: now), .response(.written),
                .command(handle: command.1, Data([3])),
                .request(.write(handle: notified.1 + 1, Data([1, 0])), sentAt: now), .response(.written),
                .request(.write(handle: indicated.1 + 1, Data([2, 0])), sentAt: now), .response(.written),
                .request(.read(handle: notified.1), sentAt: now), .response(.error(.readNotPermitted)),
                .notification(handle: notified.1, Data([4])),
                .indication(handle: indicated.1, Data([5])),
                .indication(handle: 6, Data([1, 0, 0xFF, 0xFF])),
            ])
    }

    @Test func whatTheHostKnowsByItselfIsNotOnTheAir() async throws {
        let fixture = try await SecureFixture()
        let first = try await fixture.beginRead()
        try await fixture.emulator.runUntilIdle()
        _ = try await fixture.central.run(.disconnect(peer: try fixture.peer))
        let recorder = TapRecorder(fixture.emulator)
        let link = try await fixture.central.connect(fixture.device)
        let found = try await fixture.central.attributes(link)
        #expect(first != link && !found.services.isEmpty)
        // Only the name was read.
        #expect(recorder.att().count == 2)
        let opened = recorder.kinds().compactMap { kind -> TappedConnection? in
            if case .connectionOpened(let connection) = kind { connection } else { nil }
        }
        #expect(opened.map(\.security) == [.encrypted] && opened.map(\.knowsServices) == [true])
        let addresses = [opened[0].central.identityAddress, opened[0].peripheral.identityAddress]
        #expect(addresses == [fixture.emulator.host.address, opened[0].peripheral.address])
    }

    @Test func aManagersAnswersAndValuesAreReportedAsThoseOfADevice() async throws {
        let pair = try await ConnectedPair()
        let recorder = TapRecorder(pair.emulator, .att)
        pair.central.submit(.request(link: pair.link, operation: op(1), .read(try pair.dynamic)))
        _ = try await pair.peripheral.nextRequest(from: 0)
        try pair.peripheral.answer(Data([9]))
        try await pair.emulator.runUntilIdle()
        try await pair.subscribe("C0D1")
        let count = pair.peripheral.events.count
        pair.central.submit(.request(link: pair.link, operation: op(1), .read(try pair.dynamic)))
        _ = try await pair.peripheral.nextRequest(from: count)
        try pair.peripheral.answer(code: 0x80)
        try await pair.peripheral.run(.updateValue(attribute: attribute(2), value: Data([7]), centrals: nil))
        let messages = recorder.att().filter { isRequest($0) == nil }
        #expect(
            messages == [
                .response(.value(Data([9]))), .response(.written), .response(.error(0x80)),
                .notification(handle: 10, Data([7])),
            ])
    }

    // MARK: Security

    @Test func aPairingIsReportedFromItsCauseToTheRepeatedRequest() async throws {
        let fixture = try await SecureFixture()
        let link = try await fixture.central.connect(fixture.device)
        let id = try await fixture.central.attributes(link).characteristic(SecureFixture.secret)
        let recorder = TapRecorder(fixture.emulator)
        _ = try await fixture.central.run(.request(link: link, operation: op(1), .read(id)))
        let (now, number) = (fixture.emulator.now, try #require(self.link(recorder)))
        let features = TappedPairingFeatures(
            central: .noInputNoOutput, peripheral: .noInputNoOutput, method: .justWorks)
        let bond = try #require(fixture.emulator.host.bonds.first)
        #expect(
            recorder.kinds() == [
                .att(link: number, .request(.read(handle: 10), sentAt: now)),
                .att(link: number, .response(.error(.insufficientAuthentication))),
                .pairingStarted(link: number), .pairingMethodChosen(link: number, features),
                .bondMade(host: 0, bond), .pairingSucceeded(link: number, isBonded: true),
                .securityChanged(link: number, .encrypted),
                .att(link: number, .request(.read(handle: 10), sentAt: now)),
                .att(link: number, .response(.value(Data([42])))),
            ])
        let count = recorder.events.count
        fixture.emulator.host.removeBond(with: fixture.device)
        try await fixture.emulator.runUntilIdle()
        #expect(
            recorder.kinds(from: count).prefix(2) == [
                .control(
                    source: "host \"default\"", "removeBond address=\(bond.identityAddress)",
                    words: "removes the bond with \(bond.identityAddress)", device: nil),
                .bondRemoved(host: 0, peer: bond.peer, identityAddress: bond.identityAddress),
            ])
    }

    private func link(_ recorder: TapRecorder) -> UInt32? {
        recorder.events.lazy.compactMap { event -> UInt32? in
            if case .connectionOpened(let connection) = event.kind { connection.link } else { nil }
        }.last
    }

    @Test func aRefusedPairingEndsWithItsReasonAndFaultsAreReported() async throws {
        let fixture = try await SecureFixture(PairingDescription(answer: .reject))
        let recorder = TapRecorder(fixture.emulator)
        let link = try await fixture.beginRead()
        try await fixture.emulator.runUntilIdle()
        let number = try #require(self.link(recorder))
        #expect(
            recorder.kinds().suffix(2) == [
                .pairingStarted(link: number), .pairingFailed(link: number, .operationNotSupported),
            ])
        fixture.device.inject(DeviceFault(.read, .fail(.unlikelyError)))
        let open = try await fixture.central.attributes(link).characteristic("C0D2")
        let count = recorder.events.count
        _ = try await fixture.central.run(.request(link: link, operation: op(2), .read(open)))
        #expect(
            recorder.kinds(from: count).dropFirst() == [
                .faultApplied(device: fixture.device.number, .read, .fail(.unlikelyError)),
                .att(link: number, .response(.error(.unlikelyError))),
            ])
    }

    // MARK: Channels

    @Test func aChannelIsReportedWithItsBytesInBothDirections() async throws {
        let pair = try await ConnectedPair()
        let events = try await pair.peripheral.run(.publishChannel(operation: op(1), isEncryptionRequired: false))
        guard case .channelPublished(_, let psm)? = events.last else { throw Unexpected("\(events)") }
        let recorder = TapRecorder(pair.emulator)
        let answer = try await pair.central.run(
            .request(link: pair.link, operation: op(2), .openChannel(psm: 0x99)),
            .request(link: pair.link, operation: op(3), .openChannel(psm: psm)))
        guard case .response(_, _, .channel(let channel, let credits))? = answer.last else {
            throw Unexpected("\(answer)")
        }
        _ = try await pair.central.run(.channel(channel, .send(Data([1, 2]))))
        try await pair.peripheral.run(
            .channel(channel, .consumed(2)), .channel(channel, .send(Data([3]))), .channel(channel, .close))
        let number = try #require(self.link(recorder))
        #expect(
            recorder.kinds() == [
                .channelRefused(link: number, psm: 0x99, .noService),
                .channelOpened(link: number, channel, psm: psm, credits: credits),
                .channelData(channel, from: .central, Data([1, 2])), .channelCredits(channel, to: .central, 2),
                .channelData(channel, from: .peripheral, Data([3])), .channelClosed(channel, by: .peripheral),
            ])
    }

    // MARK: Two hosts

    /// Pairs two hosts, sends values and bytes, loses the link, and returns the trace and the peripheral's events.
    private func run(withTap isTapped: Bool) async throws -> (trace: [String], events: [PeripheralEvent]) {
        let pair = try await ConnectedPair(.default)
        let recorder = isTapped ? TapRecorder(pair.emulator) : nil
        pair.device.setPacketLossRate(0.3)
        let events = try await pair.peripheral.run(.publishChannel(operation: op(1), isEncryptionRequired: false))
        guard case .channelPublished(_, let psm)? = events.last else { throw Unexpected("\(events)") }
        for uuid: BluetoothUUID in ["C0D4", "C0D1"] { try await pair.subscribe(uuid) }
        let answer = try await pair.central.run(.request(link: pair.link, operation: op(3), .openChannel(psm: psm)))
        guard case .response(_, _, .channel(let channel, _))? = answer.last else { throw Unexpected("\(answer)") }
        _ = try await pair.central.run(
            .channel(channel, .send(Data(repeating: 1, count: 4_000))),
            .writeCommand(link: pair.link, attribute: try pair.dynamic, value: Data([2])))
        try await pair.peripheral.run(.updateValue(attribute: attribute(2), value: Data([7]), centrals: nil))
        pair.emulator.host.rotateAddress()
        pair.device.setProximity(.outOfRange)
        try await pair.emulator.advance(by: .seconds(10))
        if let recorder { #expect(recorder.kinds().count > 20) }
        return (pair.emulator.trace.map(\.description), pair.peripheral.events)
    }

    @Test func aTapChangesNothingForHostsThatPairAndSend() async throws {
        let (expected, tapped) = (try await run(withTap: false), try await run(withTap: true))
        #expect(tapped.trace == expected.trace)
        #expect(tapped.events == expected.events)
    }

    @Test func theSecondLinkOfTwoHostsNamesTheFirstWhosePhysicalLinkItShares() async throws {
        let pair = try await ConnectedPair()
        let serving = try #require(pair.emulator.host(named: "peripheral 1"))
        let central = try #require(serving.centrals.first?.peer)
        let back = Fixture(host: serving.name, emulator: pair.emulator)
        try await back.powerOn()
        let recorder = TapRecorder(pair.emulator, [.links, .security])
        _ = try await back.run(.connect(peer: central, operation: op(1), options: ConnectOptions()))
        let links = recorder.events.compactMap { event -> TappedConnection? in
            if case .connectionOpened(let connection) = event.kind { connection } else { nil }
        }
        #expect(links.map(\.central.host) == [0, serving.index] && links.map(\.peripheral.host) == [serving.index, 0])
        let (first, second) = (try #require(links.first?.link), try #require(links.last?.link))
        #expect(links.map(\.sharedLink) == [nil, first])
        // Both directions are encrypted and end together.
        let count = recorder.events.count
        let secret = try pair.attributes.characteristic("C0D4")
        _ = try await pair.central.run(.request(link: pair.link, operation: op(1), .setNotifying(secret, true)))
        let levels = recorder.kinds(from: count).filter { $0.kinds == .security }.suffix(2)
        #expect(levels == [.securityChanged(link: first, .encrypted), .securityChanged(link: second, .encrypted)])
        pair.device.disconnect()
        try await pair.emulator.runUntilIdle()
        let closed = recorder.kinds().compactMap { kind -> UInt32? in
            if case .connectionClosed(let link, .central, _) = kind { link } else { nil }
        }
        #expect(Set(closed) == [first, second] && closed.count == 2)
    }

    @Test func bothHostsOfALinkAreNamed() async throws {
        let pair = try await ConnectedPair()
        let recorder = TapRecorder(pair.emulator, [.links, .security])
        try await pair.emulator.runUntilIdle()
        guard case .connectionOpened(let connection)? = recorder.events.first?.kind else {
            throw Unexpected("\(recorder.events)")
        }
        let serving = try #require(pair.emulator.host(named: "peripheral 1"))
        let central = try #require(serving.centrals.first)
        #expect(connection.peripheral.host == serving.index && connection.central.peer == central.peer)
        #expect(connection.peripheral.address == serving.address && connection.device == pair.device.number)
        serving.disconnectCentral(central.peer)
        try await pair.emulator.runUntilIdle()
        #expect(
            recorder.kinds() == [
                .connectionClosed(link: connection.link, side: .peripheral, .local),
                .connectionClosed(link: connection.link, side: .central, .remote),
            ])
    }
}
