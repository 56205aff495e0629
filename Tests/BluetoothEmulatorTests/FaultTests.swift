import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// Single steps that fail, are delayed or pause.
@Suite struct FaultTests {
    private static let battery = PeripheralDescription(
        name: "Battery", advertising: [AdvertisingDescription(AdvertisingData())],
        services: [
            .init(
                "180F",
                characteristics: [
                    .init("2A19", [.read, .write, .notify], value: Data([1])),
                    .init("2A1A", .read, value: Data([2])),
                ])
        ])

    private func connected() async throws -> (Fixture, EmulatedDevice, LinkID) {
        let fixture = Fixture()
        let device = try fixture.emulator.add(Self.battery)
        try await fixture.powerOn()
        return (fixture, device, try await fixture.connect(device))
    }

    @Test func aFaultFailsTheNextStepsOfItsKindAndNoOther() async throws {
        let (fixture, device, link) = try await connected()
        let found = try await fixture.attributes(link)
        let (level, state) = (try found.characteristic("2A19"), try found.characteristic("2A1A"))
        device.inject(DeviceFault(.read, .fail(0x80), of: "2A19", count: 2))
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .read(state)),
            .request(link: link, operation: op(2), .read(level)),
            .request(link: link, operation: op(3), .write(level, Data([9]))),
            .request(link: link, operation: op(4), .read(level)), .request(link: link, operation: op(5), .read(level))
        )
        #expect(
            events == [
                .response(link: link, operation: op(1), .value(Data([2]))),
                .response(link: link, operation: op(2), .failure(.att(0x80, operation: "read"))),
                .response(link: link, operation: op(3), .written),
                .response(link: link, operation: op(4), .failure(.att(0x80, operation: "read"))),
                .response(link: link, operation: op(5), .value(Data([9]))),
            ])
    }

    @Test func aDelayedStepHoldsUpThoseBehindIt() async throws {
        let (fixture, device, link) = try await connected()
        let level = try await fixture.attributes(link).characteristic("2A19")
        let count = fixture.events.count
        device.inject(DeviceFault(.write, .delay(.seconds(7))))
        fixture.submit(.request(link: link, operation: op(1), .write(level, Data([5]))))
        fixture.submit(.request(link: link, operation: op(2), .read(level)))
        try await fixture.emulator.advance(by: .seconds(6))
        #expect(fixture.events(from: count).isEmpty)
        #expect(device.value(of: "2A19") == Data([1]))
        try await fixture.emulator.advance(by: .seconds(2))
        #expect(
            fixture.events(from: count) == [
                .response(link: link, operation: op(1), .written),
                .response(link: link, operation: op(2), .value(Data([5]))),
            ])
    }

    @Test func aPausedDiscoveryGoesOnWhenItIsResumed() async throws {
        let (fixture, device, link) = try await connected()
        device.inject(DeviceFault(.discoverServices, .pause))
        let count = fixture.events.count
        fixture.submit(.request(link: link, operation: op(1), .discoverServices(nil)))
        try await fixture.emulator.advance(by: .seconds(20))
        #expect(fixture.events(from: count).isEmpty)
        device.resume()
        try await fixture.emulator.advance(by: .seconds(40))
        #expect(fixture.events(from: count).map(\.kind) == [.servicesDiscovered])
    }

    @Test func aStepThatIsPausedForThirtySecondsEndsTheLink() async throws {
        let (fixture, device, link) = try await connected()
        let level = try await fixture.attributes(link).characteristic("2A19")
        device.inject(DeviceFault(.subscribe, .pause, of: "2A19"))
        let events = try await fixture.run(
            .request(link: link, operation: op(1), .setNotifying(level, true)))
        guard case .disconnected(link, .timeout, _, _, _)? = events.last else { throw Unexpected("\(events)") }
        #expect(device.subscriberCount(of: "2A19") == 0)
    }

    @Test func faultsThatAreClearedHappenNoMore() async throws {
        let (fixture, device, link) = try await connected()
        let level = try await fixture.attributes(link).characteristic("2A19")
        device.inject(DeviceFault(.read, .pause, count: nil))
        let count = fixture.events.count
        fixture.submit(.request(link: link, operation: op(1), .read(level)))
        fixture.submit(.request(link: link, operation: op(2), .read(level)))
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(fixture.events(from: count).isEmpty)
        device.clearFaults()
        try await fixture.emulator.advance(by: .seconds(5))
        #expect(fixture.events(from: count).map(\.kind) == [.valueRead, .valueRead])
    }
}
