import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Connect, Disconnect, and the exported objects of a device.
@Suite struct ConnectingTests {
    private static let device = "org.bluez.Device1"

    private func heard(_ configuration: EmulatedBlueZConfiguration = EmulatedBlueZConfiguration()) -> DaemonFixture {
        var fixture = DaemonFixture(configuration)
        fixture.call("StartDiscovery")
        fixture.hear()
        _ = fixture.lines()
        return fixture
    }

    @Test func withoutALinkThereIsNoMTU() {
        var fixture = DaemonFixture.connected()
        let path = ObjectPath.constant(DaemonFixture.device + "/service0008/char0009")
        #expect(fixture.context.tree.properties(of: BlueZInterfaces.characteristic, at: path)?["MTU"] == .uint16(100))
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false))
        #expect(fixture.context.tree.properties(of: BlueZInterfaces.characteristic, at: path)?["MTU"] == nil)
        #expect(fixture.context.tree.has(BlueZInterfaces.characteristic, at: path))
    }

    @Test func theNameThatADeviceGivesItselfReturnsWithEachLink() {
        var fixture = DaemonFixture.connected()
        fixture.report(.nameChanged(peer: DaemonFixture.peer, name: "Own", source: .gap))
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false))
        fixture.hear()
        fixture.call("Connect", on: DaemonFixture.device, "org.bluez.Device1")
        _ = fixture.lines()
        fixture.becomeConnected()
        #expect(fixture.lines().first == "dev_C0_DE_00_00_18_0D Alias=Own Connected=true Name=Own")
    }

    @Test func aSecondChangeOfThePowerIsRefusedWhileOneIsUnderWay() {
        var fixture = DaemonFixture()
        for _ in 0..<2 {
            fixture.call(
                "Set", .string("org.bluez.Adapter1"), .string("Powered"), .variant(.boolean(false)),
                on: DaemonFixture.adapter, "org.freedesktop.DBus.Properties")
        }
        #expect(fixture.lines() == ["host power(false)", "refuse 2 Busy: "])
    }

    @Test(arguments: [
        ("180D", "Failed: br-connection-sdp-search", "Failed: br-connection-sdp-search"),
        ("", "Failed: br-connection-sdp-search", "Failed: br-connection-sdp-search"),
        ("x", "Failed: br-connection-sdp-search", "InvalidArguments: br-connection-invalid-argument"),
    ])
    func noProfileIsConnected(_ uuid: String, _ old: String, _ new: String) {
        for (dialect, error) in [(BlueZDialect.bluez5_66, old), (.bluez5_82, new)] {
            var fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
            fixture.call("StartDiscovery")
            fixture.hear()
            fixture.call("ConnectProfile", .string(uuid), on: DaemonFixture.device, "org.bluez.Device1")
            #expect(fixture.lines().last == "refuse 2 \(error)")
            fixture.report(.stateChanged(.poweredOff))
            fixture.call("ConnectProfile", .string(uuid), on: DaemonFixture.device, "org.bluez.Device1")
            #expect(fixture.lines().last == "refuse 3 NotReady: br-connection-adapter-not-powered")
        }
    }

    @Test func connectOfABlockedDeviceFails() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear()
        fixture.call(
            "Set", .string("org.bluez.Device1"), .string("Blocked"), .variant(.boolean(true)),
            on: DaemonFixture.device, "org.freedesktop.DBus.Properties")
        fixture.call("Connect", on: DaemonFixture.device, "org.bluez.Device1")
        #expect(fixture.lines().last == "refuse 3 Failed: le-connection-abort-by-local")
    }

    @Test func connectWithoutPowerIsAnInputOutputError() {
        var fixture = DaemonFixture()
        fixture.call("StartDiscovery")
        fixture.hear()
        fixture.report(.stateChanged(.poweredOff))
        fixture.call("Connect", on: DaemonFixture.device, "org.bluez.Device1")
        #expect(fixture.lines().last == "refuse 2 Failed: Input/output error")
    }

    @Test func connectedIsTrueBeforeTheReplyAndTheServicesComeAfterIt() {
        var fixture = heard()
        fixture.call("Connect", on: DaemonFixture.device, Self.device)
        fixture.becomeConnected()
        let lines = fixture.lines().filter { line in
            !["central", "schedule", "read"].contains { line.hasPrefix($0) }
        }
        #expect(
            lines
                == [
                    "dev_C0_DE_00_00_18_0D Connected=true", "answer 2",
                    """
                    dev_C0_DE_00_00_18_0D ServicesResolved=true UUIDs=[00001800-0000-1000-8000-00805f9b34fb \
                    00001801-0000-1000-8000-00805f9b34fb 0000180d-0000-1000-8000-00805f9b34fb]
                    """,
                    "added service0008 GattService1", "added char0009 GattCharacteristic1",
                    "added desc000b GattDescriptor1", "added char000c GattCharacteristic1",
                    "added char000e GattCharacteristic1",
                ].sorted { Self.rank($0) < Self.rank($1) })
    }

    /// The position of a line; services come before `ServicesResolved`.
    private static func rank(_ line: String) -> Int {
        line.contains("Connected=true") ? 0 : line.hasPrefix("answer") ? 1 : line.hasPrefix("added") ? 2 : 3
    }

    @Test(
        arguments: [
            (BlueZDialect.bluez5_66, "Failed: Operation already in progress"), (.bluez5_82, "InProgress: In Progress"),
        ])
    func aSecondConnectOrPairIsRefusedWhileAConnectIsPending(_ dialect: BlueZDialect, _ error: String) {
        var fixture = heard(EmulatedBlueZConfiguration(dialect: dialect))
        fixture.call("Connect", on: DaemonFixture.device, Self.device)
        fixture.call("Connect", on: DaemonFixture.device, Self.device, from: ":1.2")
        #expect(fixture.lines().last == "refuse 3 \(error)")
        fixture.call("Pair", on: DaemonFixture.device, Self.device, from: ":1.2")
        #expect(fixture.lines() == ["refuse 4 \(error)"])
    }

    @Test func aConnectDuringADisconnectSucceedsAndTheLinkEndsNevertheless() {
        var fixture = DaemonFixture.connected()
        fixture.call("Disconnect", on: DaemonFixture.device, Self.device)
        let timer = DaemonTimer.disconnect(adapter: 0, DaemonFixture.peer, fixture.context.lastNumber)
        fixture.call("Connect", on: DaemonFixture.device, Self.device, from: ":1.2")
        #expect(fixture.lines() == ["schedule 2.0 seconds", "answer 4"])
        fixture.handle(.timer(timer))
        #expect(fixture.lines() == ["central disconnect"])
    }

    @Test func noDeviceIsRemovedWithoutPower() {
        var fixture = heard()
        fixture.report(.stateChanged(.poweredOff))
        _ = fixture.lines()
        fixture.call("RemoveDevice", .objectPath(.constant(DaemonFixture.device)))
        fixture.call("RemoveDevice", .objectPath(.constant("/org/bluez/hci0/dev_00")))
        #expect(
            fixture.lines() == ["refuse 2 NotReady: Resource Not Ready", "refuse 3 DoesNotExist: Does Not Exist"])
    }

    @Test func aDeviceThatIsNotHeardFailsAfterFortySeconds() {
        var fixture = heard()
        fixture.call("Connect", on: DaemonFixture.device, Self.device)
        let timers = fixture.outputs.compactMap { output -> DaemonTimer? in
            if case .schedule(let timer, .seconds(40)) = output { timer } else { nil }
        }
        _ = fixture.lines()
        for timer in timers { fixture.handle(.timer(timer)) }
        #expect(fixture.lines() == ["central disconnect", "refuse 2 Failed: le-connection-abort-by-local"])
    }

    @Test func disconnectCancelsAPendingConnect() {
        var fixture = heard()
        fixture.call("Connect", on: DaemonFixture.device, Self.device)
        _ = fixture.lines()
        fixture.call("Disconnect", on: DaemonFixture.device, Self.device)
        #expect(
            fixture.lines() == ["central disconnect", "refuse 2 Failed: br-connection-canceled", "answer 3"])
    }

    @Test func aDeviceThatIsRemovedIsNotConnectedToAnyMore() {
        var fixture = heard()
        fixture.call("Connect", on: DaemonFixture.device, Self.device)
        _ = fixture.lines()
        fixture.call("RemoveDevice", .objectPath(.constant(DaemonFixture.device)))
        let lines = fixture.lines()
        #expect(lines.prefix(2) == ["central disconnect", "refuse 2 Failed: br-connection-canceled"])
        #expect(lines.last == "answer 3")
    }

    @Test func disconnectEndsTheLinkForAllAfterTwoSeconds() {
        var fixture = DaemonFixture.connected()
        fixture.call("Disconnect", on: DaemonFixture.device, Self.device, from: ":1.9")
        #expect(fixture.lines() == ["schedule 2.0 seconds"])
        fixture.handle(.timer(.disconnect(adapter: 0, DaemonFixture.peer, fixture.context.lastNumber)))
        #expect(fixture.lines() == ["central disconnect"])
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .local, at: Date(), isReconnecting: false))
        #expect(
            fixture.lines() == [
                "dev_C0_DE_00_00_18_0D ServicesResolved=false", "answer 3", "dev_C0_DE_00_00_18_0D Connected=false",
            ])
    }

    @Test func theAttributesStayAfterALinkAndGoWithTheDevice() {
        var fixture = DaemonFixture.connected()
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false))
        #expect(!fixture.lines().contains { $0.hasPrefix("removed") })
        fixture.call("RemoveDevice", .objectPath(.constant(DaemonFixture.device)))
        let removed = fixture.lines().filter { $0.hasPrefix("removed") }
        #expect(
            removed == [
                "removed desc000b", "removed char0009", "removed char000c", "removed char000e", "removed service0008",
                "removed dev_C0_DE_00_00_18_0D",
            ])
    }

    @Test func powerEndsEverything() {
        var fixture = DaemonFixture.connected()
        fixture.report(.stateChanged(.poweredOff))
        #expect(
            fixture.lines() == [
                "central stopScan", "dev_C0_DE_00_00_18_0D Connected=false ServicesResolved=false -RSSI",
                "hci0 Discovering=false Powered=false",
            ])
    }

    @Test func anAdapterThatIsUnpluggedTakesItsObjectsWithIt() {
        var fixture = DaemonFixture.connected()
        fixture.report(.stateChanged(.unsupported))
        let lines = fixture.lines()
        #expect(lines.last == "removed hci0")
        #expect(lines.contains("removed dev_C0_DE_00_00_18_0D"))
        fixture.call("StartDiscovery")
        #expect(fixture.lines().first?.hasPrefix("refuse 3 UnknownObject") == true)
        fixture.report(.stateChanged(.poweredOn))
        #expect(fixture.lines().first?.hasPrefix("added hci0 Adapter1") == true)
    }

    @Test func servicesThatChangeAreWithdrawnAndDiscoveredAgain() {
        var fixture = DaemonFixture.connected()
        fixture.report(.servicesChanged(link: DaemonFixture.link, removed: [1], added: []))
        let removed = fixture.outputs.map(DaemonFixture.line).filter { $0.hasPrefix("removed") }
        #expect(removed.last == "removed service0008")
        fixture.answerDiscovery()
        #expect(fixture.lines().contains("added service0008 GattService1"))
    }

    @Test func aSwitchedOffAdapterIsSwitchedOnByItsProperty() {
        var fixture = DaemonFixture()
        fixture.call(
            "Set", .string("org.bluez.Adapter1"), .string("Powered"), .variant(.boolean(false)),
            on: DaemonFixture.adapter, "org.freedesktop.DBus.Properties")
        #expect(fixture.lines() == ["host power(false)"])
        fixture.report(.stateChanged(.poweredOff))
        #expect(fixture.lines() == ["hci0 Powered=false", "answer 1"])
    }

    @Test func newerVersionsReportThatThePowerIsBeingSwitchedBeforeWhatItEnds() {
        var fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: .bluez5_82))
        for (isOn, states) in [(false, ["on-disabling", "off"]), (true, ["off-enabling", "on"])] {
            fixture.call(
                "Set", .string("org.bluez.Adapter1"), .string("Powered"), .variant(.boolean(isOn)),
                on: DaemonFixture.adapter, "org.freedesktop.DBus.Properties")
            #expect(fixture.lines() == ["host power(\(isOn))", "hci0 PowerState=\(states[0])"])
            fixture.report(.stateChanged(isOn ? .poweredOn : .poweredOff))
            #expect(fixture.lines().first == "hci0 PowerState=\(states[1]) Powered=\(isOn)")
        }
    }
}
