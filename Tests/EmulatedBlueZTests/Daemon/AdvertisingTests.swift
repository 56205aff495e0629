import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Advertisements that clients register.
@Suite struct AdvertisingTests {
    private func advertise(_ fixture: inout DaemonFixture, _ path: String, _ properties: [String: DBusValue]) {
        fixture.call(
            "RegisterAdvertisement", .objectPath(.constant(path)), .properties([:]), on: DaemonFixture.adapter,
            "org.bluez.LEAdvertisingManager1")
        fixture.reply(.properties(properties))
        for case .openAdvertiser(_, let id) in fixture.outputs {
            let operation = OperationID(rawValue: 0)
            fixture.handle(.advertiser(adapter: 0, id, .advertisingStarted(operation: operation)))
        }
    }

    @Test func anAdvertisementIsOnTheAirBeforeTheCallIsAnswered() {
        var fixture = DaemonFixture()
        advertise(
            &fixture, "/ad", ["Type": .string("peripheral"), "LocalName": .string("x"), "Includes": .strings([])])
        #expect(
            fixture.lines() == [
                "watch :1.1", ":1.1 /ad GetAll org.bluez.LEAdvertisement1", "open advertiser",
                "advertiser startAdvertising", "hci0 ActiveInstances=1 SupportedInstances=4", "answer 1",
            ])
        fixture.handle(.clientLeft(":1.1"))
        #expect(fixture.lines() == ["close advertiser", "hci0 ActiveInstances=0 SupportedInstances=5"])
    }

    @Test(
        arguments: [
            [:], ["Type": .string("x")], ["Type": .string("peripheral"), "ServiceUUIDs": .strings(["x"])],
            ["Type": .string("peripheral"), "ManufacturerData": .string("x")],
            [
                "Type": .string("peripheral"),
                "ServiceUUIDs": .strings([
                    "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002",
                ]),
            ],
        ] as [[String: DBusValue]])
    func advertisementsThatDoNotFitAreRefused(_ properties: [String: DBusValue]) {
        var fixture = DaemonFixture()
        advertise(&fixture, "/ad", properties)
        #expect(fixture.lines().last == "refuse 1 Failed: Failed to parse advertisement.")
    }

    @Test(arguments: [("peripheral", true), ("broadcast", false)])
    func aBroadcastCannotBeConnectedTo(_ type: String, _ isConnectable: Bool) {
        var fixture = DaemonFixture()
        advertise(&fixture, "/ad", ["Type": .string(type)])
        let advertised = fixture.outputs.compactMap { output -> Bool? in
            guard case .advertiser(_, _, .startAdvertising(_, let advertisement)) = output else { return nil }
            return advertisement.isConnectable
        }
        #expect(advertised == [isConnectable])
    }

    @Test func thereAreFiveAdvertisementsAtMost() {
        var fixture = DaemonFixture()
        for number in 0..<6 { advertise(&fixture, "/ad\(number)", ["Type": .string("broadcast")]) }
        #expect(fixture.lines().contains("refuse 6 NotPermitted: Maximum advertisements reached"))
    }

    @Test func advertisementsOutliveThePowerButNotTheAdapter() {
        var fixture = DaemonFixture()
        advertise(&fixture, "/ad", ["Type": .string("broadcast")])
        _ = fixture.lines()
        fixture.report(.stateChanged(.poweredOff))
        #expect(fixture.lines() == ["hci0 Powered=false"])
        fixture.report(.stateChanged(.unsupported))
        let lines = fixture.lines()
        #expect(lines.contains("close advertiser"))
        #expect(lines.contains(":1.1 /ad Release"))
    }
}
