import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
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
            ["Type": .string("x")], ["Type": .string("peripheral"), "ServiceUUIDs": .strings(["x"])],
            ["Type": .string("peripheral"), "ManufacturerData": .string("x")],
            ["Type": .string("peripheral"), "SecondaryChannel": .string("1M")],
        ] as [[String: DBusValue]])
    func advertisementsThatCannotBeParsedAreRefused(_ properties: [String: DBusValue]) {
        var fixture = DaemonFixture()
        advertise(&fixture, "/ad", properties)
        #expect(fixture.lines().last == "refuse 1 Failed: Failed to parse advertisement.")
    }

    @Test(arguments: [(BlueZDialect.bluez5_82, false), (.bluez5_87, true)])
    func aClientLearnsTheInstanceThatItAsksFor(_ dialect: BlueZDialect, _ isTold: Bool) {
        var fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
        let type = DBusValue.string("peripheral")
        for path in ["/one", "/two"] { advertise(&fixture, path, ["Type": type]) }
        fixture.call(
            "UnregisterAdvertisement", .objectPath(.constant("/one")), on: DaemonFixture.adapter,
            "org.bluez.LEAdvertisingManager1")
        _ = fixture.lines()
        for path in ["/three", "/four"] { advertise(&fixture, path, ["Type": type, "Instance": .byte(0)]) }
        let told = fixture.lines().filter { $0.contains(" Set ") }
        #expect(
            told
                == (isTold
                    ? [
                        ":1.1 /three Set org.bluez.LEAdvertisement1 Instance 1",
                        ":1.1 /four Set org.bluez.LEAdvertisement1 Instance 3",
                    ] : []))
    }

    @Test func anAdvertisementThatDoesNotFitIsNotRegistered() {
        var fixture = DaemonFixture()
        let services = ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"]
        advertise(&fixture, "/ad", ["Type": .string("peripheral"), "ServiceUUIDs": .strings(services)])
        #expect(fixture.lines().last == "refuse 1 Failed: Failed to register advertisement")
    }

    @Test func anAdvertisementWithoutPropertiesIsABroadcast() {
        var fixture = DaemonFixture()
        fixture.call(
            "RegisterAdvertisement", .objectPath(.constant("/ad")), .properties([:]), on: DaemonFixture.adapter,
            "org.bluez.LEAdvertisingManager1")
        fixture.reply(.failure(DBusError(name: DBusError.Name.unknownMethod, message: "")))
        #expect(fixture.lines().contains("open advertiser"))
    }

    @Test func bytesInPlaceOfADictionaryAreIgnored() {
        var fixture = DaemonFixture()
        advertise(&fixture, "/ad", ["Type": .string("peripheral"), "ManufacturerData": .bytes([1])])
        #expect(fixture.lines().contains("open advertiser"))
    }

    /// The advertisements that are sent to the controller.
    private func sent(_ fixture: DaemonFixture) -> [Advertisement] {
        fixture.outputs.compactMap { output in
            if case .advertiser(_, _, .startAdvertising(_, let advertisement)) = output { advertisement } else { nil }
        }
    }

    @Test(arguments: [("peripheral", true), ("broadcast", false)])
    func aBroadcastCannotBeConnectedTo(_ type: String, _ isConnectable: Bool) {
        var fixture = DaemonFixture()
        advertise(&fixture, "/ad", ["Type": .string(type)])
        #expect(sent(fixture).map(\.isConnectable) == [isConnectable])
    }

    @Test func thereAreAsManyAdvertisementsAsTheControllerHasSets() {
        var fixture = DaemonFixture()
        for number in 0..<6 { advertise(&fixture, "/ad\(number)", ["Type": .string("broadcast")]) }
        let lines = fixture.lines()
        #expect(lines.contains("hci0 ActiveInstances=5 SupportedInstances=0"))
        #expect(lines.contains("refuse 6 NotPermitted: Maximum advertisements reached"))
    }

    // MARK: Changes

    private func setDiscoverable(_ isOn: Bool, _ fixture: inout DaemonFixture) {
        fixture.call(
            "Set", .string("org.bluez.Adapter1"), .string("Discoverable"), .variant(.boolean(isOn)),
            on: DaemonFixture.adapter, "org.freedesktop.DBus.Properties")
    }

    @Test func advertisementsFollowTheAdapterThatBecomesDiscoverable() {
        var fixture = DaemonFixture()
        advertise(&fixture, "/ad", ["Type": .string("broadcast")])
        setDiscoverable(true, &fixture)
        setDiscoverable(false, &fixture)
        #expect(sent(fixture).map(\.isConnectable) == [false, true, false])
    }

    /// Controllers with extended advertising end a set to which a central connects.
    @Test(arguments: [(BlueZDialect.bluez5_66, false), (.bluez5_82, true), (.bluez5_87, true)])
    func aSetIsOffTheAirBesideTheLinkOfItsCentral(_ dialect: BlueZDialect, _ isEnded: Bool) {
        var fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
        advertise(&fixture, "/broadcast", ["Type": .string("broadcast")])
        advertise(&fixture, "/ad", ["Type": .string("peripheral")])
        let central = PeerFacts(peer: DaemonFixture.peer, address: "C0:DE:00:00:18:0D")
        func advertising(_ input: DaemonInput) -> [String] {
            _ = fixture.lines()
            fixture.handle(input)
            return fixture.lines().filter { $0.hasPrefix("advertiser") }
        }
        let connected = DaemonInput.centralConnected(adapter: 0, central)
        #expect(advertising(connected) == (isEnded ? ["advertiser stopAdvertising"] : []))
        let disconnected = DaemonInput.centralDisconnected(adapter: 0, DaemonFixture.peer)
        #expect(advertising(disconnected) == (isEnded ? ["advertiser startAdvertising"] : []))
        // A change of the client enables it beside a link.
        _ = advertising(connected)
        fixture.signal(
            "PropertiesChanged", of: "Properties", at: "/ad", .string("org.bluez.LEAdvertisement1"),
            .properties(["LocalName": .string("x")]), .strings([]))
        fixture.reply(.properties(["Type": .string("peripheral"), "LocalName": .string("x")]))
        #expect(fixture.lines().filter { $0.hasPrefix("advertiser") } == ["advertiser startAdvertising"])
        #expect(advertising(disconnected) == [])
    }

    @Test func anAdvertisementIsHiddenAndReleasedWhenItsTimesAreOver() {
        var fixture = DaemonFixture()
        advertise(
            &fixture, "/ad",
            [
                "Type": .string("peripheral"), "Discoverable": .boolean(true), "DiscoverableTimeout": .uint16(2),
                "Timeout": .uint16(5),
            ])
        let timers = fixture.outputs.compactMap { output -> DaemonTimer? in
            if case .schedule(let timer, _) = output { timer } else { nil }
        }
        _ = fixture.lines()
        guard timers.count == 2 else { Issue.record("two times are limited, not \(timers.count)"); return }
        fixture.handle(.timer(timers[1]))
        #expect(sent(fixture).map(\.otherStructures) == [nil])
        _ = fixture.lines()
        fixture.handle(.timer(timers[0]))
        #expect(fixture.lines().contains(":1.1 /ad Release"))
    }

    @Test func aTimeoutThatTheClientTakesBackDoesNotCount() {
        var fixture = DaemonFixture()
        advertise(&fixture, "/ad", ["Timeout": .uint16(5)])
        let timers = fixture.outputs.compactMap { output -> DaemonTimer? in
            if case .schedule(let timer, _) = output { timer } else { nil }
        }
        fixture.signal(
            "PropertiesChanged", of: "Properties", at: "/ad", .string("org.bluez.LEAdvertisement1"),
            .properties(["Timeout": .uint16(0)]), .strings([]))
        fixture.reply(.properties(["Timeout": .uint16(0)]))
        _ = fixture.lines()
        for timer in timers { fixture.handle(.timer(timer)) }
        #expect(timers.count == 1)
        #expect(fixture.lines().isEmpty)
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
