import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct HandlerTests {
    private func connected(
        to device: (Emulator) throws -> EmulatedDevice, _ configuration: EmulatorConfiguration = .instant
    ) async throws -> (Fixture, EmulatedDevice, LinkID, Attributes) {
        let fixture = Fixture(configuration)
        let device = try device(fixture.emulator)
        try await fixture.powerOn()
        let link = try await fixture.connect(device)
        return (fixture, device, link, try await fixture.attributes(link))
    }

    @Test func theHeartBeatsOnceASecondAndChanges() async throws {
        let (fixture, _, link, found) = try await connected(to: { try $0.add(.heartRateMonitor) })
        let measurement = try found.characteristic("2A37")
        _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(measurement, true)))
        let count = fixture.events.count
        try await fixture.emulator.advance(by: .seconds(20))
        let values = fixture.events(from: count).compactMap { event -> Data? in
            if case .valueNotified(_, measurement, let value) = event { value } else { nil }
        }
        #expect(values.count == 20)
        #expect(Set(values.map { $0[$0.startIndex + 1] }).count > 10)
        // Flags: sensor contact supported and detected, RR interval; every tenth value also has the energy expended.
        #expect(values[0] == Data([0x16, 61, 0xEF, 0x03]))
        #expect(values[9].prefix(4) == Data([0x1E, 70, 1, 0]))
        _ = try await fixture.run(.request(link: link, operation: op(2), .setNotifying(measurement, false)))
        let quiet = fixture.events.count
        try await fixture.emulator.advance(by: .seconds(20))
        #expect(fixture.events.count == quiet)
    }

    @Test func theControlPointResetsTheEnergyAndRefusesAllElse() async throws {
        let (fixture, _, link, found) = try await connected(to: { try $0.add(.heartRateMonitor) })
        let point = try found.characteristic("2A39")
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .write(point, Data([1]))),
            .request(link: link, operation: op(2), .write(point, Data([2]))))
        #expect(events.first == .response(link: link, operation: op(1), .written))
        guard case .response(_, op(2), .failure(let error))? = events.last else { throw Unexpected(events[1]) }
        #expect(error.attCode == 0x80)
    }

    @Test func theButtonIsPressedAndTheLEDTakesOnAndOff() async throws {
        let (fixture, device, link, found) = try await connected(to: { try $0.add(.blinky) })
        let button = try found.characteristic(BlinkyHandler.button)
        let led = try found.characteristic(BlinkyHandler.led)
        _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(button, true)))
        let count = fixture.events.count
        try await fixture.emulator.advance(by: .seconds(12))
        #expect(
            fixture.events(from: count)
                == [1, 0, 1, 0].map {
                    .valueNotified(link: link, attribute: button, value: Data([$0]))
                }.dropLast(fixture.emulator.now < .seconds(11) ? 1 : 0))
        let events = try await fixture.run(
            .request(link: link, operation: op(2), .write(led, Data([1]))),
            .request(link: link, operation: op(3), .write(led, Data([2]))))
        #expect(events.first == .response(link: link, operation: op(2), .written))
        guard case .response(_, op(3), .failure(let error))? = events.last else { throw Unexpected(events[1]) }
        #expect(error.attCode == ATTCode.valueNotAllowed.rawValue)
        #expect(device.value(of: CharacteristicPath(BlinkyHandler.led)) == Data([1]))
    }

    @Test func theEchoReturnsWhatIsWritten() async throws {
        let (fixture, _, link, found) = try await connected(to: { try $0.add(.echo) })
        let echo = try #require(found.characteristics.first).id
        _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(echo, true)))
        let events = try await fixture.run(
            .request(link: link, operation: op(2), .write(echo, Data([1]))),
            .writeCommand(link: link, attribute: echo, value: Data([2])),
            .request(link: link, operation: op(3), .read(echo)))
        #expect(Set(events.map(\.kind)) == [.written, .valueNotified, .writeCredits, .valueRead])
        let echoes = events.filter { $0.kind == .valueNotified }
        #expect(echoes == [1, 2].map { .valueNotified(link: link, attribute: echo, value: Data([$0])) })
        #expect(events.filter { $0.kind == .valueRead } == [.response(link: link, operation: op(3), .value(Data([2])))])
    }

    /// A handler that counts requests, refuses one value, and never answers another.
    private struct Counter: EmulatedPeripheralHandler {
        func makeState() -> Int { 0 }

        func respond(
            to request: PeripheralRequest, state: inout Int, device: inout DeviceActions
        ) -> PeripheralResponse {
            state += 1
            switch request.kind {
            case .read: return .value(Data("\(request.central.host) \(request.central.mtu) \(state)".utf8))
            case .write(let value) where value == Data([0xFF]): return .unanswered
            case .write(let value): return .error(ATTCode(rawValue: value.first ?? 0x0E))
            case .writeCommand: return .accepted
            }
        }
    }

    private static let counted = PeripheralDescription(
        name: "Counter", advertising: [.init(AdvertisingData())],
        services: [.init("180F", characteristics: [.init("2A19", [.read, .write], value: Data([1]))])])

    @Test func aHandlerKnowsTheCentralAndAnswersAsItLikes() async throws {
        let (fixture, _, link, found) = try await connected(
            to: { try $0.add(EmulatedPeripheral(Self.counted, handler: Counter())) })
        let id = try found.characteristic("2A19")
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .read(id)),
            .request(link: link, operation: op(2), .write(id, Data([0x85]))),
            .request(link: link, operation: op(3), .write(id, Data([0xFF]))))
        #expect(events.first == .response(link: link, operation: op(1), .value(Data("default 185 1".utf8))))
        guard case .response(_, op(2), .failure(let error))? = events.dropFirst().first else {
            throw Unexpected(events[1])
        }
        #expect(error.attCode == 0x85)
        guard case .disconnected(link, .timeout, _, _, _)? = events.last else { throw Unexpected(events[2]) }
    }

    /// A handler that answers three seconds late.
    private struct Late: AsynchronousPeripheralHandler {
        let clock: EmulatorClock

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            do {
                try await clock.sleep(for: .seconds(3))
                return request.writtenValue == nil ? .value(Data([42])) : .stored
            } catch {
                return .error(.unlikelyError)
            }
        }
    }

    @Test func anAsynchronousHandlerHoldsTimeButForItsSleeps() async throws {
        let (fixture, device, link, found) = try await connected(
            to: { try $0.add(EmulatedPeripheral(Self.counted, handler: Late(clock: $0.swiftClock))) })
        let id = try found.characteristic("2A19")
        let start = fixture.emulator.now
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .read(id)),
            .request(link: link, operation: op(2), .write(id, Data([7]))))
        #expect(
            events == [
                .response(link: link, operation: op(1), .value(Data([42]))),
                .response(link: link, operation: op(2), .written),
            ])
        #expect(fixture.emulator.now - start == .seconds(6))
        #expect(device.value(of: "2A19") == Data([7]))
    }
}
