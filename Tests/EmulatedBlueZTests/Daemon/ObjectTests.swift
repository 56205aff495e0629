import BluetoothDBus
import Testing

@testable import EmulatedBlueZ

/// What every object answers, and how errors are named.
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

    @Test func newerVersionsShowMore() {
        for (dialect, isShown) in [(BlueZDialect.bluez5_66, false), (.bluez5_82, true)] {
            let fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
            let adapter = fixture.daemon.tree.properties(of: "org.bluez.Adapter1", at: .constant(DaemonFixture.adapter))
            #expect((adapter?["PowerState"] != nil) == isShown)
            #expect((adapter?["Connectable"] != nil) == isShown)
        }
    }
}
