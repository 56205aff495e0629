import AsyncBluetooth
import CoreBluetooth
import Foundation
import GatewayCore
import Mosquitto
import Testing

/// The rules, and the state machine that selects the advertised values to publish.
@Suite struct AdvertiserTableTests {
    private static let start = ContinuousClock.now

    private func rules(_ yaml: String, devices: String = "devices: []") throws -> [AdvertisementRule] {
        try GatewayCore.Configuration(
            yaml: """
                gateway: test
                broker: { host: 127.0.0.1 }
                queue: { file: /tmp/queue.sqlite }
                \(devices)
                advertisements:
                \(yaml)
                """, file: "test.yaml"
        ).advertisements
    }

    private func btHome(_ bytes: [UInt8]) -> AdvertisedData {
        var data = AdvertisedData()
        data.serviceData[CBUUID(string: "FCD2")] = Data(bytes)
        return data
    }

    /// Returns BTHome data, version 2, unencrypted, with a temperature in hundredths of a degree.
    private func temperature(_ hundredths: UInt8) -> AdvertisedData { btHome([0x40, 0x02, hundredths, 0x00]) }

    private static let sensor = "  - { id: sensor, format: bthome, address: C0:11:22:33:44:55, repeatInterval: 60 s }"
    private static let sensors = "  - { id: sensors, format: bthome, devices: 2 }"

    /// Returns the publications of a table at times in seconds, as `device/value=number@time`.
    private func published(
        _ table: inout AdvertiserTable, _ reports: [(Double, AdvertisedData)], address: String = "C0:11:22:33:44:55"
    ) -> [String] {
        reports.flatMap { seconds, data in
            texts(
                table.advertised(
                    data, address: { address }, signalStrength: -60, at: Self.start + .seconds(seconds)), seconds)
        }
    }

    private func texts(_ actions: [AdvertiserTable.Action], _ seconds: Double) -> [String] {
        actions.compactMap { action in
            guard case .publish(let reading, let device) = action else { return nil }
            let value =
                switch reading.value {
                case .integer(let value): "\(value)"
                case .number(let value): "\(value)"
                case .text(let value): value
                case .flag(let value): "\(value)"
                }
            return "\(device)/\(reading.id)=\(value)@\(Int(seconds))"
        }
    }

    @Test func aValueThatDoesNotChangeIsRepeatedAfterTheRepeatIntervalAlone() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        let reports = (0..<125).map { (Double($0), temperature(200)) }
        #expect(
            published(&table, reports)
                == ["sensor/temperature=2.0@0", "sensor/temperature=2.0@60", "sensor/temperature=2.0@120"])
    }

    @Test func aValueThatChangesSoonerWaitsForTheIntervalAndTheNewestIsPublished() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        #expect(table.due == nil)
        let reports = [(0.0, temperature(100)), (1, temperature(110)), (2, temperature(120))]
        #expect(published(&table, reports) == ["sensor/temperature=1.0@0"])
        #expect(table.due == Self.start + .seconds(10))
        #expect(table.takeDue(at: Self.start + .seconds(9)).isEmpty)
        #expect(texts(table.takeDue(at: Self.start + .seconds(10)), 10) == ["sensor/temperature=1.2@10"])
        #expect(table.due == nil && table.dropped == 1)
    }

    @Test func aValueThatIsAsBeforeWhenTheIntervalEndsIsNotPublished() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        _ = published(&table, [(0, temperature(100)), (1, temperature(110)), (2, temperature(100))])
        #expect(table.takeDue(at: Self.start + .seconds(10)).isEmpty && table.due == nil)
    }

    @Test func anEventIsPublishedOnceForEachPacketNumber() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        let press: (UInt8) -> AdvertisedData = { self.btHome([0x44, 0x00, $0, 0x3A, 0x01]) }
        let reports = [(0.0, press(1)), (0.1, press(1)), (0.2, press(2)), (20, press(2)), (21, press(3))]
        #expect(
            published(&table, reports) == ["sensor/button=press@0", "sensor/button=press@0", "sensor/button=press@21"])
    }

    @Test func anEventWithoutAPacketNumberIsNewAfterASilence() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        let press = btHome([0x44, 0x3A, 0x01])
        #expect(
            published(&table, [(0, press), (1, press), (2, press), (30, press)])
                == ["sensor/button=press@0", "sensor/button=press@30"])
    }

    @Test func aFloodOfEventsIsBounded() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        let reports = (0..<200).map { (0.001 * Double($0), btHome([0x44, 0x00, UInt8($0), 0x3A, 0x01])) }
        #expect(published(&table, reports).count == 8)
    }

    // MARK: Devices

    @Test func aStrangersAdvertisementIsNotPublished() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        let actions = table.advertised(
            temperature(1), address: { "C0:FF:FF:FF:FF:FF" }, signalStrength: nil, at: Self.start)
        #expect(actions.isEmpty && table.heardDevices == 0)
    }

    @Test func aRuleTakesNoMoreDevicesThanItSays() throws {
        var table = AdvertiserTable(try rules(Self.sensors))
        var all: [String] = []
        for number in 1...9 { all += published(&table, [(0, temperature(1))], address: "C0:00:00:00:00:0\(number)") }
        #expect(all == ["sensors-c00000000001/temperature=0.01@0", "sensors-c00000000002/temperature=0.01@0"])
        #expect(table.heardDevices == 2)
    }

    @Test func aFullRuleWarnsOnceAndForgetsADeviceThatWasSilentForADay() throws {
        var table = AdvertiserTable(try rules(Self.sensors))
        func advertise(_ number: Int, _ seconds: Double) -> [AdvertiserTable.Action] {
            table.advertised(
                temperature(1), address: { "C0:00:00:00:00:0\(number)" }, signalStrength: nil,
                at: Self.start + .seconds(seconds))
        }
        _ = advertise(1, 0)
        _ = advertise(2, 60)
        #expect(advertise(3, 70).count == 1 && advertise(3, 80).isEmpty && advertise(4, 90).isEmpty)
        let later = advertise(3, 86_400)
        #expect(later.first == .withdraw(device: "sensors-c00000000001"))
        #expect(texts(later, 0) == ["sensors-c00000000003/temperature=0.01@0"])
    }

    @Test func theDevicesOfAnEarlierProcessKeepTheirPlaces() throws {
        var table = AdvertiserTable(
            try rules(Self.sensors), devices: ["sensors-c00000000001", "sensors-c00000000002", "other-c00000000003"])
        #expect(published(&table, [(0, temperature(1))], address: "C0:00:00:00:00:03").isEmpty)
        #expect(published(&table, [(0, temperature(1))], address: "C0:00:00:00:00:02").count == 1)
    }

    @Test func encryptedValuesAreNotPublishedAndAreWarnedOfOnce() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        let actions = (0..<50).flatMap { number in
            table.advertised(
                btHome([0x41, UInt8(number), 1, 2, 3, 4, 5, 6, 7, 8]), address: { "C0:11:22:33:44:55" },
                signalStrength: nil, at: Self.start + .seconds(number * 30))
        }
        #expect(actions == [.warn("the advertised values are encrypted", device: "sensor")])
    }

    @Test func aDeviceHasNoMoreValuesThanTheLimit() throws {
        var table = AdvertiserTable(try rules(Self.sensor))
        // The advertisement is extended and contains 60 temperatures.
        let bytes: [UInt8] = [0x40] + (0..<60).flatMap { (number: UInt8) -> [UInt8] in [0x02, number, 0x00] }
        #expect(published(&table, [(0, btHome(bytes))]).count == 32)
    }

    // MARK: Formats

    private func values(_ rule: String, _ data: AdvertisedData) throws -> [String] {
        var table = AdvertiserTable(try rules(rule))
        return published(&table, [(0, data)])
    }

    @Test func eachFormatHasItsValues() throws {
        var beacon = AdvertisedData()
        beacon.manufacturerData = Data([0x4C, 0x00, 0x02, 0x15] + (0..<16) + [0, 7, 0, 9, 0xC5])
        let uuid = "00010203-0405-0607-0809-0A0B0C0D0E0F"
        #expect(
            try values("  - { id: b, format: ibeacon, uuid: \(uuid), devices: 5, signalStrength: true }", beacon)
                == ["b-7-9/major=7@0", "b-7-9/minor=9@0", "b-7-9/power-at-1-m=-59@0", "b-7-9/signal-strength=-60@0"])
        #expect(try values("  - { id: b, format: ibeacon, uuid: \(UUID()), devices: 5 }", beacon).isEmpty)
        #expect(try values("  - { id: b, format: ibeacon, uuid: \(uuid), major: 7, minor: 8 }", beacon).isEmpty)

        var eddystone = AdvertisedData()
        eddystone.serviceData[CBUUID(string: "FEAA")] = Data([0x20, 0, 0x0B, 0xB8, 0x15, 0x80, 0, 0, 0, 5, 0, 0, 0, 10])
        #expect(
            try values("  - { id: e, format: eddystone, address: C0:11:22:33:44:55 }", eddystone) == [
                "e/battery=3000@0", "e/temperature=21.5@0", "e/advertisements=5@0", "e/uptime=1.0@0",
            ])

        var raw = AdvertisedData()
        raw.serviceData[CBUUID(string: "181A")] = Data([0x10, 0x09])
        raw.manufacturerData = Data([0x99, 0x04, 0x03, 0x40])
        #expect(
            try values(
                "  - { id: r, format: service-data, service: 181A, devices: 1, values: [{ id: t, format: sint16/100 }] }",
                raw) == ["r-c01122334455/t=23.2@0"])
        #expect(
            try values(
                "  - { id: m, format: manufacturer-data, company: 0x0499, localName: x, devices: 1, "
                    + "values: [{ id: t, format: uint8@1 }] }", raw
            ).isEmpty)
        raw.localName = "x"
        #expect(
            try values(
                "  - { id: m, format: manufacturer-data, company: 0x0499, localName: x, devices: 1, "
                    + "values: [{ id: t, format: uint8@1 }] }", raw) == ["m-c01122334455/t=64@0"])

        var ruuvi = AdvertisedData()
        ruuvi.manufacturerData = Data(
            [0x99, 0x04, 5, 0x12, 0xFC, 0x53, 0x94, 0xC3, 0x7C, 0, 4, 0xFF, 0xFC, 4, 0x0C, 0xAC, 0x36, 0x42, 0, 0xCD]
                + [0xCB, 0xB8, 0x33, 0x4C, 0x88, 0x4F])
        let readings = try values("  - { id: r, format: ruuvi, address: C0:11:22:33:44:55 }", ruuvi)
        #expect(readings.prefix(3) == ["r/temperature=24.3@0", "r/humidity=53.49@0", "r/pressure=1000.44@0"])
        #expect(!readings.contains { $0.contains("sequence") })
    }

    @Test(arguments: [
        ("{ id: a, format: bthome }", "needs the field devices"),
        ("{ id: a, format: beacon, devices: 1 }", "\"beacon\" is none of bthome, eddystone, ibeacon"),
        ("{ id: a, format: ibeacon, devices: 1 }", "lacks the field uuid"),
        ("{ id: a, format: bthome, devices: 1, uuid: x }", "uuid: is a field of the format ibeacon"),
        ("{ id: a, format: service-data, service: xyz, devices: 1 }", "\"xyz\" is no UUID of a service"),
        ("{ id: a, format: service-data, service: FCD2, devices: 1 }", "lacks the field values"),
        ("{ id: a, format: manufacturer-data, company: 70000, devices: 1 }", "must be 0 to 65535"),
        ("{ id: a, format: bthome, address: C0:11:22:33:44:55, devices: 2 }", "the rule is for one device"),
        ("{ id: lamp, format: bthome, devices: 2 }", "the name lamp is taken"),
        ("{ id: a, format: bthome, devices: 1, repeatInterval: 10 s, minimumInterval: 1 min }", "must not be less"),
    ])
    func aMistakeInARuleIsNamed(rule: String, message: String) throws {
        let devices = """
            devices:
              - { id: lamp, address: C0:11:22:33:44:55, profiles: battery }
            """
        let error = try #require(throws: ConfigurationError.self) { try rules("  - \(rule)", devices: devices) }
        #expect(error.description.contains(message), "\(error)")
    }
}
