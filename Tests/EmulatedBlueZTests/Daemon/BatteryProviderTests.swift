import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// The batteries of devices, read by the daemon or provided by clients.
@Suite struct BatteryProviderTests {
    private static let manager = "org.bluez.BatteryProviderManager1"
    private static let newer = EmulatedBlueZConfiguration(dialect: .bluez5_82)

    private static func battery(_ device: String, _ level: UInt8?, source: String? = nil) -> DBusValue {
        var properties: [String: DBusValue] = ["Device": .objectPath(.constant(device))]
        if let level { properties["Percentage"] = .byte(level) }
        if let source { properties["Source"] = .string(source) }
        return .interfaces(["org.bluez.BatteryProvider1": properties])
    }

    private static func objects(_ batteries: [(path: String, battery: DBusValue)]) -> DBusValue {
        .dictionary(
            DBusDictionary(
                keyType: .objectPath,
                valueType: .dictionary(key: .string, value: .dictionary(key: .string, value: .variant)),
                entries: batteries.map { .init(key: .objectPath(.constant($0.path)), value: $0.battery) }))
    }

    private static func register(
        _ root: String = "/batteries", in fixture: inout DaemonFixture, as member: String = "RegisterBatteryProvider",
        from sender: String = ":1.1"
    ) {
        fixture.call(
            member, .objectPath(.constant(root)), on: DaemonFixture.adapter, manager, from: sender)
    }

    /// A connected device without its own battery, and a client that provides a battery for it.
    private static func provided(
        _ configuration: EmulatedBlueZConfiguration = newer, level: UInt8? = 50, source: String? = "HFP 1.7"
    ) -> DaemonFixture {
        var fixture = DaemonFixture.connected(configuration)
        register(in: &fixture)
        fixture.reply(objects([("/batteries/one", battery(DaemonFixture.device, level, source: source))]))
        return fixture
    }

    private static func shown(_ fixture: DaemonFixture) -> [String: DBusValue]? {
        fixture.context.tree.properties(of: BlueZInterfaces.battery, at: .constant(DaemonFixture.device))
    }

    private static func change(_ level: UInt8, in fixture: inout DaemonFixture, from sender: String = ":1.1") {
        fixture.signal(
            "PropertiesChanged", of: "Properties", at: "/batteries/one", .string("org.bluez.BatteryProvider1"),
            .properties(["Percentage": .byte(level)]), .strings([]), from: sender)
    }

    // MARK: Clients

    @Test(arguments: [
        (BlueZDialect.bluez5_66, false, false), (.bluez5_66, true, true), (.bluez5_82, false, true),
        (.bluez5_87, false, true),
    ])
    func providersAreThereInTheVersionsThatHaveThem(_ dialect: BlueZDialect, _ isExperimental: Bool, _ isThere: Bool) {
        let fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect, isExperimental: isExperimental))
        #expect(fixture.context.tree.has(Self.manager, at: .constant(DaemonFixture.adapter)) == isThere)
        #expect((fixture.context.interfaces["org.bluez.Battery1"]?.property("Source") != nil) == isThere)
    }

    @Test func aProvidedBatteryIsShownAtItsDevice() {
        var fixture = DaemonFixture.connected(Self.newer)
        Self.register(in: &fixture)
        #expect(
            fixture.lines() == ["watch :1.1", "answer 3", ":1.1 /batteries GetManagedObjects"])
        fixture.handle(
            .reply(
                .init(rawValue: fixture.context.lastNumber),
                .success([
                    Self.objects([
                        ("/batteries/one", Self.battery(DaemonFixture.device, 50, source: "HFP 1.7")),
                        ("/batteries/two", Self.battery("/org/bluez/hci0/dev_00_00_00_00_00_00", 60)),
                    ])
                ])))
        #expect(fixture.lines() == ["added dev_C0_DE_00_00_18_0D Battery1"])
        #expect(Self.shown(fixture) == ["Percentage": .byte(50), "Source": .string("HFP 1.7")])
    }

    @Test func aRootHasOneProviderWhichAloneWithdrawsIt() {
        var fixture = DaemonFixture(Self.newer)
        Self.register(in: &fixture)
        Self.register(in: &fixture, from: ":1.2")
        Self.register(in: &fixture, as: "UnregisterBatteryProvider", from: ":1.2")
        Self.register(in: &fixture, as: "UnregisterBatteryProvider")
        Self.register(in: &fixture, as: "UnregisterBatteryProvider")
        #expect(
            fixture.lines().filter { !$0.hasPrefix("watch") && !$0.hasPrefix(":") } == [
                "answer 1", "refuse 2 AlreadyExists: Provider already exists",
                "refuse 3 DoesNotExist: Provider does not exist", "answer 4",
                "refuse 5 DoesNotExist: Provider does not exist",
            ])
    }

    @Test func aClientHasALimitedNumberOfProviders() {
        var fixture = DaemonFixture(Self.newer)
        for number in 0...DaemonLimits.batteryProviders { Self.register("/batteries/\(number)", in: &fixture) }
        #expect(fixture.lines().last == "refuse 65 NotPermitted: Maximum battery providers reached")
    }

    // MARK: Objects

    @Test func theLevelFollowsTheClients() {
        var fixture = Self.provided()
        _ = fixture.lines()
        Self.change(51, in: &fixture)
        Self.change(51, in: &fixture)
        Self.change(101, in: &fixture)
        Self.change(10, in: &fixture, from: ":1.9")
        #expect(fixture.lines() == ["dev_C0_DE_00_00_18_0D Percentage=51"])
        fixture.signal(
            "PropertiesChanged", of: "Properties", at: "/batteries/one", .string("org.bluez.BatteryProvider1"),
            .properties([:]), .strings(["Percentage"]))
        #expect(fixture.lines() == ["dev_C0_DE_00_00_18_0D Percentage=0"])
    }

    @Test func aBatteryMayHaveNoLevelYet() {
        var fixture = Self.provided(level: nil, source: nil)
        #expect(Self.shown(fixture) == [:])
        Self.change(99, in: &fixture)
        #expect(Self.shown(fixture) == ["Percentage": .byte(99)])
    }

    @Test func aBatteryMayComeLaterAndGo() {
        var fixture = DaemonFixture.connected(Self.newer)
        Self.register(in: &fixture)
        fixture.reply(Self.objects([]))
        _ = fixture.lines()
        let object = DBusValue.objectPath(.constant("/batteries/one"))
        let battery = Self.battery(DaemonFixture.device, 7)
        // Only signals of the root announce objects.
        fixture.signal("InterfacesAdded", of: "ObjectManager", at: "/", object, battery)
        #expect(fixture.lines() == [])
        fixture.signal("InterfacesAdded", of: "ObjectManager", at: "/batteries", object, battery)
        #expect(fixture.lines() == ["added dev_C0_DE_00_00_18_0D Battery1"])
        fixture.withdraw("/batteries/one", "org.bluez.BatteryProvider1", of: "/batteries", from: ":1.2")
        #expect(fixture.lines() == [])
        fixture.withdraw("/batteries/one", "org.bluez.BatteryProvider1", of: "/batteries")
        #expect(fixture.lines() == ["removed dev_C0_DE_00_00_18_0D Battery1"])
    }

    @Test func aDeviceThatMayBeForgottenHasNoBattery() {
        var fixture = DaemonFixture(Self.newer)
        fixture.call("StartDiscovery")
        fixture.hear()
        Self.register(in: &fixture)
        fixture.reply(Self.objects([("/batteries/one", Self.battery(DaemonFixture.device, 50))]))
        #expect(Self.shown(fixture) == nil)
    }

    @Test(arguments: ["UnregisterBatteryProvider", "leaves", "RemoveDevice"])
    func batteriesGoWithTheirProviderOrDevice(_ end: String) {
        var fixture = Self.provided()
        _ = fixture.lines()
        switch end {
        case "leaves": fixture.handle(.clientLeft(":1.1"))
        case "RemoveDevice": fixture.call("RemoveDevice", .objectPath(.constant(DaemonFixture.device)))
        default: Self.register(in: &fixture, as: end)
        }
        #expect(fixture.lines().contains("removed dev_C0_DE_00_00_18_0D Battery1"))
        #expect(Self.shown(fixture) == nil)
        Self.change(3, in: &fixture)
        #expect(Self.shown(fixture) == nil)
    }

    // MARK: The daemon's own

    /// The batteries that the daemon shows after the device reported a level, and after its link has ended.
    private static func levels(_ fixture: DaemonFixture, told level: UInt8) -> [[String: DBusValue]?] {
        var daemon = fixture.daemon
        func shown() -> [String: DBusValue]? {
            daemon.context.tree.properties(of: BlueZInterfaces.battery, at: .constant(DaemonFixture.device))
        }
        daemon.context.showBatteryLevel(Data([level]), at: .constant(DaemonFixture.device))
        let first = shown()
        let end = CentralEvent.disconnected(
            link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false)
        _ = daemon.handle([.central(adapter: 0, end)], at: .zero)
        return [first, shown()]
    }

    @Test func theBatteryOfADeviceGoesWithItsLink() {
        let own: [String: DBusValue] = ["Percentage": .byte(87), "Source": .string("GATT Battery Service")]
        #expect(Self.levels(.connected(Self.newer), told: 87) == [own, nil])
        #expect(Self.levels(.connected(), told: 87) == [["Percentage": .byte(87)], nil])
    }

    @Test func theBatteryOfAClientHidesTheDevicesOwnAndOutlivesTheLink() {
        let provided: [String: DBusValue] = ["Percentage": .byte(50), "Source": .string("HFP 1.7")]
        #expect(Self.levels(Self.provided(), told: 9) == [provided, provided])
    }

    @Test func aFluctuatingLevelIsShownAsItsAverageIn5_87() {
        let levels: [UInt8] = [50, 52, 50, 52, 50, 52, 50, 52, 50, 60, 61]
        func shown(_ dialect: BlueZDialect) -> [UInt8] {
            var fixture = Self.provided(EmulatedBlueZConfiguration(dialect: dialect), level: nil)
            return levels.compactMap { level in
                Self.change(level, in: &fixture)
                if case .byte(let shown)? = Self.shown(fixture)?["Percentage"] { return shown } else { return nil }
            }
        }
        #expect(shown(.bluez5_82) == levels)
        #expect(shown(.bluez5_87) == [50, 52, 50, 52, 50, 52, 50, 51, 51, 60, 61])
    }
}
