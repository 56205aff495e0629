import BluetoothBackend
import BluetoothDBus
import Testing

@testable import EmulatedBlueZ

/// The answers that every object gives, and the names of errors.
@Suite struct ObjectTests {
    private static let properties = "org.freedesktop.DBus.Properties"

    @Test func aPropertyThatIsNotThereIsAnInvalidArgument() {
        var fixture = DaemonFixture()
        fixture.call("Get", .string("org.bluez.Adapter1"), .string("X"), on: DaemonFixture.adapter, Self.properties)
        fixture.call("Get", .string("org.bluez.X1"), .string("X"), on: DaemonFixture.adapter, Self.properties)
        fixture.call("GetAll", .string("org.bluez.X1"), on: DaemonFixture.adapter, Self.properties)
        #expect(
            fixture.lines() == [
                "refuse 1 InvalidArgs: No such property 'X'", "refuse 2 InvalidArgs: No such interface 'org.bluez.X1'",
                "refuse 3 InvalidArgs: No such interface 'org.bluez.X1'",
            ])
    }

    @Test func whatCannotBeSetIsRefused() {
        var fixture = DaemonFixture()
        for (name, value) in [
            ("Address", DBusValue.string("x")), ("Powered", .string("x")), ("X", .boolean(true)),
        ] {
            fixture.call(
                "Set", .string("org.bluez.Adapter1"), .string(name), .variant(value), on: DaemonFixture.adapter,
                Self.properties)
        }
        #expect(
            fixture.lines() == [
                "refuse 1 PropertyReadOnly: Property 'Address' is not writable",
                "refuse 2 InvalidSignature: Invalid signature for 'Powered'",
                "refuse 3 UnknownProperty: No such property 'X'",
            ])
    }

    @Test func unknownMethodsAndObjectsAreDistinguished() {
        var fixture = DaemonFixture()
        fixture.call("Fly")
        fixture.call("StartDiscovery", .string("now"))
        fixture.call("Connect", on: DaemonFixture.device, "org.bluez.Device1")
        let names = fixture.lines().map { $0.split(separator: ":")[0] }
        #expect(names == ["refuse 1 UnknownMethod", "refuse 2 UnknownMethod", "refuse 3 UnknownObject"])
    }

    @Test func everyPathThatLeadsToAnObjectIsIntrospected() throws {
        var fixture = DaemonFixture()
        for path in ["/", "/org", "/org/bluez", DaemonFixture.adapter] {
            fixture.call("Introspect", on: path, "org.freedesktop.DBus.Introspectable")
        }
        let texts = fixture.outputs.compactMap { output -> String? in
            if case .answer(_, let values) = output { values.first?.stringValue } else { nil }
        }
        #expect(texts.count == 4)
        #expect(texts[0].contains("<node name=\"org\"/>"))
        #expect(texts[0].contains("org.freedesktop.DBus.ObjectManager"))
        #expect(texts[2].contains("<node name=\"hci0\"/>"))
        #expect(texts[3].contains("<arg name=\"properties\" type=\"a{sv}\" direction=\"in\"/>"))
        #expect(texts[3].contains("<property name=\"Powered\" type=\"b\" access=\"readwrite\"/>"))
    }

    @Test func everyOtherPathIsDescribedAsEmpty() throws {
        var fixture = DaemonFixture()
        for path in ["/org", "/x", DaemonFixture.adapter + "/x"] {
            fixture.call("Introspect", on: path, "org.freedesktop.DBus.Introspectable")
        }
        fixture.call("Introspect", .string("x"), on: DaemonFixture.adapter, "org.freedesktop.DBus.Introspectable")
        fixture.call("Introspect", on: DaemonFixture.adapter, "")
        let texts = fixture.outputs.compactMap { output -> String? in
            if case .answer(_, let values) = output { values.first?.stringValue } else { nil }
        }
        #expect(texts.count == 5 && texts.allSatisfy { !$0.contains("<interface") })
        #expect(texts[0].contains("<node name=\"bluez\"/>"))
    }

    @Test func aCallWithoutAnInterfaceSelectsNoMethod() {
        var fixture = DaemonFixture()
        fixture.call("GetDiscoveryFilters", on: DaemonFixture.adapter, "")
        #expect(
            fixture.lines() == [
                """
                refuse 1 UnknownMethod: Method "GetDiscoveryFilters" with signature "" on interface "(null)" doesn't exist

                """
            ])
    }

    @Test func anObjectListsTheStandardInterfacesThatItNeeds() {
        var fixture = DaemonFixture()
        let standard = ["org.freedesktop.DBus.Introspectable", Self.properties]
        #expect(fixture.context.tree.interfaces(at: .constant(DaemonFixture.adapter))?.suffix(2) == standard[...])
        #expect(fixture.context.tree.interfaces(at: .constant("/org/bluez"))?.suffix(1) == standard[..<1])
        fixture.call("GetAll", .string(Self.properties), on: DaemonFixture.adapter, Self.properties)
        fixture.call("GetAll", .string("org.bluez.AgentManager1"), on: "/org/bluez", Self.properties)
        let lines = fixture.lines()
        #expect(lines.first == "answer 1 {}")
        #expect(lines.last?.hasPrefix("refuse 2 UnknownMethod") == true)
    }

    @Test func theStandardInterfacesGoWithTheLastOther() {
        var fixture = DaemonFixture.connected()
        fixture.report(.servicesChanged(link: DaemonFixture.link, removed: [1], added: []))
        let removed = fixture.outputs.compactMap { output -> [String]? in
            guard case .signal(let signal) = output, signal.member == "InterfacesRemoved" else { return nil }
            return signal.body.last?.stringsValue
        }
        #expect(
            removed.last == ["org.bluez.GattService1", "org.freedesktop.DBus.Introspectable", Self.properties])
    }

    @Test func aPropertyThatADeviceDoesNotHaveCannotBeSet() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear()
        _ = fixture.lines()
        fixture.call(
            "Set", .string("org.bluez.Device1"), .string("WakeAllowed"), .variant(.boolean(true)),
            on: DaemonFixture.device, Self.properties)
        #expect(fixture.lines() == ["refuse 2 UnknownProperty: No such property 'WakeAllowed'"])
    }

    @Test func aSecondAgentIsRefusedWhateverItsCapability() {
        var fixture = DaemonFixture()
        for (path, capability) in [("/a", "DisplayOnly"), ("/b", "Nothing")] {
            fixture.call(
                "RegisterAgent", .objectPath(.constant(path)), .string(capability), on: "/org/bluez",
                "org.bluez.AgentManager1")
        }
        #expect(fixture.lines().last == "refuse 2 AlreadyExists: Already Exists")
    }

    @Test func profilesAreRegisteredAsOverBREDR() {
        var fixture = DaemonFixture()
        func register(
            _ path: String, _ uuid: String, _ options: [String: DBusValue] = [:], from sender: String = ":1.1"
        ) {
            fixture.call(
                "RegisterProfile", .objectPath(.constant(path)), .string(uuid), .properties(options), on: "/org/bluez",
                "org.bluez.ProfileManager1", from: sender)
        }
        register("/p", "1101", ["Name": .string("Serial"), "Further": .byte(1)])
        register("/p", "1102")
        register("/q", "00001101-0000-1000-8000-00805f9b34fb")
        register("/q", "serial?")
        // These options are logged and ignored.
        register("/q", "1102", ["channel": .uint16(32), "Name": .byte(1)])
        fixture.handle(.clientLeft(":1.1"))
        register("/p", "1101", from: ":1.2")
        for _ in 0..<2 {
            fixture.call(
                "UnregisterProfile", .objectPath(.constant("/p")), on: "/org/bluez", "org.bluez.ProfileManager1",
                from: ":1.2")
        }
        #expect(
            fixture.lines().filter { !$0.hasPrefix("watch") } == [
                "answer 1", "refuse 2 AlreadyExists: Already Exists", "refuse 3 NotPermitted: UUID already registered",
                "refuse 4 InvalidArguments: Invalid arguments in method call", "answer 5", "answer 6", "answer 7",
                "refuse 8 DoesNotExist: Does Not Exist",
            ])
    }

    @Test func newerVersionsShowMore() {
        for (dialect, isShown) in [(BlueZDialect.bluez5_66, false), (.bluez5_82, true), (.bluez5_87, true)] {
            let fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
            let path = ObjectPath.constant(DaemonFixture.adapter)
            let adapter = fixture.context.tree.properties(of: "org.bluez.Adapter1", at: path)
            #expect((adapter?["PowerState"] != nil) == isShown)
            #expect((adapter?["Connectable"] != nil) == isShown)
            #expect((fixture.context.interfaces["org.bluez.Device1"]?.property("Sets") != nil) == isShown)
        }
    }

    @Test func thePreferredBearerIsExperimentalAndHasNoValueInADeviceOfOne() {
        for isExperimental in [false, true] {
            var fixture = DaemonFixture.connected(
                EmulatedBlueZConfiguration(dialect: .bluez5_82, isExperimental: isExperimental))
            let device = fixture.context.interfaces["org.bluez.Device1"]
            #expect((device?.property("PreferredBearer") != nil) == isExperimental)
            fixture.call(
                "Set", .string("org.bluez.Device1"), .string("PreferredBearer"), .variant(.string("le")),
                on: DaemonFixture.device, Self.properties)
            #expect(fixture.lines() == ["refuse 3 UnknownProperty: No such property 'PreferredBearer'"])
        }
    }
}
