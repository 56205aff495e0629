import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Reads and writes that a peripheral manager answers.
@Suite struct PeripheralRequestTests {
    private func read(_ pair: ConnectedPair, _ uuid: BluetoothUUID = "C0D1", _ number: UInt64 = 1) throws {
        let id = try pair.attributes.characteristic(uuid)
        pair.central.submit(.request(link: pair.link, operation: op(number), .read(id)))
    }

    private func write(_ pair: ConnectedPair, _ value: Data, _ uuid: BluetoothUUID = "C0D1") throws {
        let id = try pair.attributes.characteristic(uuid)
        pair.central.submit(.request(link: pair.link, operation: op(1), .write(id, value)))
    }

    @Test func S108_staticValuesAreServedWithoutTheManager() async throws {
        let pair = try await ConnectedPair()
        let count = pair.peripheral.events.count
        let id = try pair.attributes.characteristic("C0D2")
        let events = try await pair.central.run(
            .request(link: pair.link, operation: op(1), .read(id)),
            .request(link: pair.link, operation: op(2), .discoverDescriptors(of: id)))
        #expect(events.first == .response(link: pair.link, operation: op(1), .value(Data([1, 2, 3]))))
        guard case .response(_, _, .descriptors(let descriptors))? = events.last else { throw Unexpected("\(events)") }
        let description = try #require(descriptors.first)
        #expect(
            try await pair.central.run(.request(link: pair.link, operation: op(3), .read(description.id)))
                == [.response(link: pair.link, operation: op(3), .value(Data("text".utf8)))])
        #expect(pair.peripheral.events.count == count)
    }

    @Test func S125_S126_aReadIsHeldUntilTheManagerAnswers() async throws {
        let pair = try await ConnectedPair(.default)
        let count = pair.peripheral.events.count
        let before = pair.central.events.count
        try read(pair)
        guard case .readRequested(_, _, attribute(2), 0, 185) = try await pair.peripheral.nextRequest(from: count)
        else { throw Unexpected("\(pair.peripheral.events.last as Any)") }
        try await pair.emulator.advance(by: .seconds(20))
        #expect(pair.central.events.count == before)
        try pair.peripheral.answer(Data([7]))
        try await pair.emulator.runUntilIdle()
        #expect(
            pair.central.events(from: before) == [
                .response(link: pair.link, operation: op(1), .value(Data([7])))
            ])
    }

    @Test(arguments: [7, 0x80, 0xFC] as [UInt8])
    func S127_errorsReachTheCentralAsTheyAre(code: UInt8) async throws {
        let pair = try await ConnectedPair()
        let count = pair.peripheral.events.count
        let before = pair.central.events.count
        try read(pair)
        _ = try await pair.peripheral.nextRequest(from: count)
        try pair.peripheral.answer(code: code)
        try await pair.emulator.runUntilIdle()
        #expect(
            pair.central.events(from: before) == [
                .response(link: pair.link, operation: op(1), .failure(.att(code, operation: "read")))
            ])
    }

    @Test func S128_aLongValueIsReadInPartsAndAnExactMultipleCostsOneMore() async throws {
        let pair = try await ConnectedPair(.default)
        var count = pair.peripheral.events.count
        let before = pair.central.events.count
        let value = Data((0..<368).map { UInt8(truncatingIfNeeded: $0) })  // twice MTU - 1
        try read(pair)
        for offset in [0, 184, 368] {
            let request = try await pair.peripheral.nextRequest(from: count)
            guard case .readRequested(_, _, _, offset, _) = request else { throw Unexpected("\(request)") }
            count = pair.peripheral.events.count
            // A value that does not fit is truncated.
            try pair.peripheral.answer(Data(value.dropFirst(offset)))
        }
        try await pair.emulator.runUntilIdle()
        #expect(
            pair.central.events(from: before) == [.response(link: pair.link, operation: op(1), .value(value))])
    }

    @Test func aValueEndsAt512Bytes() async throws {
        let pair = try await ConnectedPair()
        var count = pair.peripheral.events.count
        let before = pair.central.events.count
        try read(pair)
        for offset in [0, 184, 368] {
            guard case .readRequested(_, _, _, offset, _) = try await pair.peripheral.nextRequest(from: count) else {
                throw Unexpected("\(pair.peripheral.events)")
            }
            count = pair.peripheral.events.count
            try pair.peripheral.answer(Data(repeating: 1, count: 512))
        }
        try await pair.emulator.runUntilIdle()
        #expect(
            pair.central.events(from: before) == [
                .response(link: pair.link, operation: op(1), .value(Data(repeating: 1, count: 512)))
            ])
    }

    @Test func S129_S109_permissionsAreCheckedBeforeTheManagerIsAsked() async throws {
        let pair = try await ConnectedPair()
        let count = pair.peripheral.events.count
        let before = pair.central.events.count
        try read(pair, "C0D3")
        try write(pair, Data([1]), "C0D3")
        try await pair.emulator.runUntilIdle()
        #expect(
            pair.central.events(from: before) == [
                .response(link: pair.link, operation: op(1), .failure(.att(2, operation: "read"))),
                .response(link: pair.link, operation: op(1), .failure(.att(3, operation: "write"))),
            ])
        #expect(pair.peripheral.events.count == count)
    }

    @Test func S130_aWriteIsAnsweredOnce() async throws {
        let pair = try await ConnectedPair()
        let count = pair.peripheral.events.count
        let before = pair.central.events.count
        try write(pair, Data([1, 2]))
        guard
            case .writeRequested(_, _, 185, true, let parts) = try await pair.peripheral.nextRequest(from: count)
        else { throw Unexpected("\(pair.peripheral.events)") }
        #expect(parts == [WritePart(attribute: attribute(2), offset: 0, value: Data([1, 2]))])
        #expect(pair.central.events.count == before)
        try pair.peripheral.answer()
        try pair.peripheral.answer(code: 3)  // too late: ignored
        try await pair.emulator.runUntilIdle()
        #expect(pair.central.events(from: before) == [.response(link: pair.link, operation: op(1), .written)])
    }

    @Test func S131_aLongWriteIsOneRequestOfManyParts() async throws {
        let pair = try await ConnectedPair()
        let count = pair.peripheral.events.count
        let before = pair.central.events.count
        let value = Data((0..<500).map { UInt8(truncatingIfNeeded: $0) })
        try write(pair, value)
        guard
            case .writeRequested(_, _, _, true, let parts) = try await pair.peripheral.nextRequest(from: count)
        else { throw Unexpected("\(pair.peripheral.events)") }
        #expect(parts.map(\.offset) == [0, 180, 360])
        #expect(parts.reduce(Data()) { $0 + $1.value } == value)
        #expect(pair.peripheral.events(from: count).count == 1)
        try pair.peripheral.answer(code: 0x0D)
        try await pair.emulator.runUntilIdle()
        #expect(
            pair.central.events(from: before) == [
                .response(link: pair.link, operation: op(1), .failure(.att(0x0D, operation: "write")))
            ])
    }

    @Test func S132_writeCommandsWantNoAnswer() async throws {
        let pair = try await ConnectedPair()
        let count = pair.peripheral.events.count
        let id = try pair.dynamic
        let events = try await pair.central.run(
            .writeCommand(link: pair.link, attribute: id, value: Data([5])),
            .writeCommand(link: pair.link, attribute: id, value: Data([6])))
        #expect(events == [.writeCredits(link: pair.link, count: 1), .writeCredits(link: pair.link, count: 1)])
        let written = pair.peripheral.events(from: count).compactMap { event -> Data? in
            if case .writeRequested(_, _, _, false, let parts) = event { parts.first?.value } else { nil }
        }
        #expect(written == [Data([5]), Data([6])])
        let before = pair.central.events.count
        try pair.peripheral.answer(code: 3)
        try await pair.emulator.runUntilIdle()
        #expect(pair.central.events.count == before)
    }

    @Test func S134_aRequestWithoutAnswerExpiresAfter30SecondsAndDropsTheLink() async throws {
        let pair = try await ConnectedPair()
        let count = pair.peripheral.events.count
        try await pair.subscribe("C0D1")
        try read(pair)
        try read(pair, "C0D2", 2)
        _ = try await pair.peripheral.nextRequest(from: count)
        let request = try #require(pair.peripheral.request)
        let before = pair.central.events.count
        let start = pair.emulator.now
        try await pair.emulator.advance(until: { pair.central.events.count > before })
        #expect(pair.emulator.now - start == .seconds(30))
        // The read behind it was blocked, and ended with the link.
        guard case .disconnected(pair.link, .timeout, _, _, _)? = pair.central.events(from: before).first else {
            throw Unexpected("\(pair.central.events(from: before))")
        }
        let central = try #require(pair.centralID)
        #expect(
            pair.peripheral.events.suffix(2) == [
                .requestExpired(request: request), .unsubscribed(central: central, attribute: attribute(2)),
            ])
        try pair.peripheral.answer(Data([1]))
        try await pair.emulator.runUntilIdle()
        #expect(pair.central.events.count == before + 1)
    }

    @Test func oneCentralThatWaitsDoesNotKeepAnotherWaiting() async throws {
        let pair = try await ConnectedPair()
        try pair.emulator.add(HostDescription(name: "second"))
        let second = Fixture(host: "second", emulator: pair.emulator)
        try await second.powerOn()
        let peer = try await second.find(pair.device, host: "second")
        second.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await pair.emulator.advance(by: .seconds(1))
        try read(pair)
        _ = try await pair.peripheral.nextRequest(from: 0)
        let held = try #require(pair.peripheral.request)
        let link = try #require(second.lastLink)
        let count = pair.peripheral.events.count
        second.submit(.request(link: link, operation: op(2), .read(try pair.dynamic)))
        guard case .readRequested(_, let other, _, _, _) = try await pair.peripheral.nextRequest(from: count) else {
            throw Unexpected("\(pair.peripheral.events)")
        }
        #expect(other != pair.centralID)
        try pair.peripheral.answer(Data([2]))
        try await pair.emulator.advance(by: .seconds(1))
        #expect(second.events.last == .response(link: link, operation: op(2), .value(Data([2]))))
        pair.peripheral.peripheral.submit(.respond(request: held, attCode: 0, value: Data([1])))
        try await pair.emulator.advance(by: .seconds(1))
        #expect(pair.central.events.last == .response(link: pair.link, operation: op(1), .value(Data([1]))))
    }

    @Test func aManagerThatQuitsAnswersItsOpenRequestWithAnError() async throws {
        let pair = try await ConnectedPair()
        try read(pair)
        _ = try await pair.peripheral.nextRequest(from: 0)
        let before = pair.central.events.count
        pair.peripheral.peripheral.invalidate()
        try await pair.emulator.runUntilIdle()
        #expect(
            pair.central.events(from: before).contains(
                .response(link: pair.link, operation: op(1), .failure(.att(0x0E, operation: "request")))))
    }
}
