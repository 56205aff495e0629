import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Testing

/// The bytes per second that links carry, compared with the Core Specification's arithmetic.
@Suite struct ThroughputTests {
    @Test(arguments: ThroughputRow.all, LinkThroughput.Procedure.allCases)
    func theArithmeticIsTheSpecifications(row: ThroughputRow, procedure: LinkThroughput.Procedure) {
        let (rate, expected) = (row.throughput.bytesPerSecond(by: procedure), row.expectedRate(of: procedure))
        #expect(abs(rate / expected - 1) < 0.1, "\(rate) bytes a second, expected \(expected)")
    }

    /// Transfers 300,000 bytes, or a tenth of that if it takes very many round trips or packets.
    @Test(arguments: ThroughputRow.all, LinkThroughput.Procedure.allCases)
    func aLinkTakesTheTimeOfTheArithmetic(row: ThroughputRow, procedure: LinkThroughput.Procedure) async throws {
        let (link, client) = (row.throughput, try await ThroughputClient(row))
        let payload = link.payload(of: procedure)
        // The transfer consists of whole values, because each read is one.
        let isStream = [.notification, .writeWithoutResponse, .channel].contains(procedure)
        let bytes = (isStream && payload > 100 ? 300_000 : 30_000) / payload * payload
        let time = try await client.move(bytes, by: procedure, payload)
        let expected = link.duration(of: bytes, by: procedure)
        #expect(expected - link.connectionInterval <= time && time <= expected + link.connectionInterval)
        let expectedBytes = row.expectedRate(of: procedure) * time.inSeconds
        #expect(abs(Double(bytes) / expectedBytes - 1) < 0.1, "\(bytes) bytes, expected \(expectedBytes)")
    }

    /// Compares the table with the page; `REWRITE_DOCUMENTS=1` writes the table instead.
    @Test func thePageHasTheTable() throws {
        let page = Document("Throughput")
        var lines = try page.text().components(separatedBy: "\n")
        let first = try #require(lines.firstIndex { $0.hasPrefix("| link |") })
        let end = try #require(lines[first...].firstIndex { !$0.hasPrefix("|") })
        if Document.isRewriting {
            lines.replaceSubrange(first..<end, with: [ThroughputRow.table()])
            try lines.joined(separator: "\n").write(to: page.file, atomically: true, encoding: .utf8)
        } else {
            #expect(
                lines[first..<end].joined(separator: "\n") == ThroughputRow.table(),
                "write it again with REWRITE_DOCUMENTS=1")
        }
    }

    /// The shortest and the longest packets of each physical layer, by the tables of the Core Specification (Vol 6,
    /// Part B, 2.1, 2.2 and 4.5.10), in microseconds.
    @Test func packetsHaveTheirAirTimes() {
        let times: [(PHY, empty: Int64, longest: Int64)] = [
            (.le1M, 80, 2_120), (.le2M, 44, 1_064), (.leCodedS2, 462, 4_542), (.leCodedS8, 720, 17_040),
        ]
        for (phy, empty, longest) in times {
            #expect(phy.airTime(ofPayload: 0) == .microseconds(empty))
            #expect(phy.airTime(ofPayload: 255) == .microseconds(longest))
        }
    }

    @Test func withoutAConnectionIntervalNothingTakesTime() {
        let link = LinkThroughput(.instant)
        #expect(link.duration(of: 1_000_000, by: .read) == .zero)
        #expect(link.bytesPerSecond(by: .channel) == .infinity)
        #expect(LinkThroughput().duration(of: 0, by: .write) == .zero)
    }

    @Test func packetsAreShorterWhereTwoDoNotFitIntoTheInterval() {
        var link = LinkThroughput()
        link.connectionInterval = .microseconds(7_500)
        #expect(link.dataLength == 251)
        link.phy = .leCodedS8
        // Two packets of 376 + (41 + 4 + 5) * 64 + 24 us, and two spaces.
        #expect(link.dataLength == 41)
    }

    // MARK: Several at once

    /// Notifications and the stream of a channel, both from the device, share the rate that one alone has.
    @Test func theTrafficOfOneSideSharesTheLink() async throws {
        let fixture = try await sharing()
        let channel = try await open(0x80, on: fixture)
        for _ in 0..<300 { fixture.device.notify("C0D1", value: Data(repeating: 1, count: 182)) }
        fixture.device.send(Data(repeating: 2, count: 16_000), on: channel)
        let count = fixture.fixture.events.count
        try await fixture.emulator.advance(by: .milliseconds(450))
        let events = fixture.fixture.events(from: count)
        let values = events.count { if case .valueNotified = $0 { true } else { false } }
        let bytes = events.reduce(0) { sum, event in
            if case .channel(channel, .received(let data)) = event { sum + data.count } else { sum }
        }
        // Ten connection events carry six packets each, which the two sources send by turns.
        #expect(values == 30)
        #expect(bytes == 30 * 245)
    }

    /// A value too long for one connection event arrives with a later one.
    @Test func aLongPDUGoesOnInTheNextConnectionEvent() async throws {
        let fixture = try await sharing {
            $0.maximumDataLength = 27
            $0.packetsPerConnectionEvent = 3
        }
        let count = fixture.fixture.events.count
        // 189 bytes in seven packets.
        fixture.device.notify("C0D1", value: Data(repeating: 1, count: 182))
        fixture.device.notify("C0D1", value: Data(repeating: 1, count: 20))
        try await fixture.emulator.advance(by: .milliseconds(99))
        #expect(fixture.fixture.events.count == count)
        try await fixture.emulator.advance(by: .milliseconds(1))
        #expect(fixture.fixture.events.count == count + 2)
    }

    @Test func aDeviceHasItsOwnSettings() {
        var device = PeripheralDescription(name: "A")
        #expect(LinkThroughput(device: device) == LinkThroughput())
        device.phy = .le2M
        device.maximumDataLength = 100
        device.connectionEventLength = .milliseconds(3)
        device.packetsPerConnectionEvent = 2
        let link = LinkThroughput(device: device)
        #expect(link.phy == .le2M && link.dataLength == 100 && link.packetsPerConnectionEvent == 2)
        #expect(link.connectionEventLength == .milliseconds(3))
    }

    private func sharing(
        _ change: (inout EmulatorConfiguration) -> Void = { _ in }
    ) async throws -> DeviceFixture {
        var configuration = EmulatorConfiguration.default
        change(&configuration)
        let fixture = try await DeviceFixture(
            PeripheralDescription(
                name: "Shared", advertising: [AdvertisingDescription(AdvertisingData(localName: "Shared"))],
                services: [ServiceDescription("C0D0", characteristics: [CharacteristicDescription("C0D1", .notify)])],
                channels: [ChannelDescription(psm: 0x80)]), configuration)
        try await fixture.subscribe("C0D1")
        return fixture
    }

    private func open(_ psm: UInt16, on fixture: DeviceFixture) async throws -> ChannelID {
        let events = try await fixture.fixture.run(
            .request(link: fixture.link, operation: op(50), .openChannel(psm: psm)))
        guard case .response(_, _, .channel(let channel, _))? = events.last else { throw Unexpected("\(events)") }
        return channel
    }
}
