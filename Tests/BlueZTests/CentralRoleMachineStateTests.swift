#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import Testing

@testable import BlueZ

@Suite struct CentralRoleMachineStateTests {
    private typealias Fixture = CentralRoleFixture
    private var fixture = CentralRoleFixture()

    @Test mutating func theFirstEventIsTheFirstDefiniteState() {
        fixture.input(.activated(1))
        #expect(fixture.events == [])
        fixture.receive(.phase(.ready))
        #expect(fixture.events == [])
        fixture.receive(.snapshot([Fixture.adapter: Fixture.adapterObject()]))
        #expect(fixture.events == [.stateChanged(.poweredOn)])
        fixture.input(.activated(2))
        #expect(fixture.eventsByManager[2] == [.stateChanged(.poweredOn)])
    }

    @Test mutating func withoutADaemonItIsUnsupported() {
        fixture.input(.activated(1))
        fixture.receive(.phase(.absent))
        #expect(fixture.events == [.stateChanged(.unsupported)])
    }

    @Test mutating func aRefusalIsUnauthorized() {
        fixture.input(.activated(1))
        fixture.receive(.phase(.denied))
        #expect(fixture.events == [.authorizationChanged(.denied), .stateChanged(.unauthorized)])
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([Fixture.adapter: Fixture.adapterObject(isPowered: false)]))
        #expect(fixture.events.suffix(2) == [.authorizationChanged(.allowed), .stateChanged(.poweredOff)])
    }

    /// A daemon that the bus has just started finds its adapters after a moment.
    @Test mutating func anAdapterThatComesLateIsWaitedForAndThenUsedAtAnyTime() {
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([:]))
        #expect(fixture.events == [])
        fixture.fire(.adapterReturn)
        #expect(fixture.events == [.stateChanged(.unsupported)])
        fixture.receive(.interfacesAdded(Fixture.adapter, Fixture.adapterObject()))
        #expect(fixture.events.last == .stateChanged(.poweredOn))
    }

    @Test mutating func anAdapterWithoutTheRoleIsUnsupportedAndAnOldDaemonListsNoRoles() {
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([Fixture.adapter: Fixture.adapterObject(roles: ["peripheral"])]))
        #expect(fixture.events == [.stateChanged(.unsupported)])
        fixture.receive(.snapshot([Fixture.adapter: Fixture.adapterObject(roles: nil)]))
        fixture.receive(.interfacesRemoved(Fixture.adapter, ["org.bluez.Adapter1"]))
        fixture.receive(.interfacesAdded(Fixture.adapter, Fixture.adapterObject(roles: nil)))
        #expect(fixture.events.last == .stateChanged(.poweredOn))
    }

    @Test mutating func powerIsFollowed() {
        fixture = .poweredOn()
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(false)])
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(false)])
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(true)])
        #expect(fixture.events == [.stateChanged(.poweredOff), .stateChanged(.poweredOn)])
    }

    /// bluetoothd reports the links some time before it reports the power.
    @Test mutating func S12_powerOffCallsNoDisconnect() {
        var (fixture, peer, _) = Fixture.connected()
        fixture.set(
            Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false), "ServicesResolved": .boolean(false)])
        #expect(fixture.events == [])
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(false)])
        fixture.fire(.link(peer, .powerLoss))
        #expect(fixture.events == [.stateChanged(.poweredOff)])
    }

    /// On a busy machine, ending all links takes longer than other ends wait.
    @Test mutating func S12_aLinkWaitsLongerForThePowerThatIsBeingSwitchedOff() {
        let timings = BlueZTimings()
        for (state, wait) in [("on", timings.powerLoss), ("on-disabling", timings.turningOff)] {
            var (fixture, peer, _) = Fixture.connected()
            fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["PowerState": .string(state)])
            fixture.set(
                Fixture.device, "org.bluez.Device1",
                ["Connected": .boolean(false), "ServicesResolved": .boolean(false)])
            #expect(fixture.durations[.link(peer, .powerLoss)] == wait)
        }
    }

    @Test mutating func aLostDaemonIsResettingUntilItIsBack() {
        var (fixture, _, _) = Fixture.connected()
        fixture.receive(.phase(.lost))
        #expect(fixture.events == [.stateChanged(.resetting)])
        // Events of the old daemon change nothing.
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([:]))
        #expect(fixture.events == [.stateChanged(.resetting)])
        fixture.receive(.interfacesAdded(Fixture.adapter, Fixture.adapterObject()))
        #expect(fixture.events == [.stateChanged(.resetting), .stateChanged(.poweredOn)])
    }

    @Test mutating func aLostDaemonThatStaysAwayIsUnsupported() {
        fixture = .poweredOn()
        fixture.receive(.phase(.lost))
        fixture.receive(.phase(.lost))
        fixture.receive(.phase(.absent))
        fixture.fire(.adapterReturn)
        #expect(fixture.events == [.stateChanged(.resetting), .stateChanged(.unsupported)])
    }

    @Test mutating func aRemovedAdapterIsKnownAgainByItsAddress() {
        fixture = .poweredOn()
        let other = Fixture.path("/org/bluez/hci1")
        fixture.receive(.interfacesAdded(other, Fixture.adapterObject(address: "00:00:00:00:00:02")))
        fixture.receive(.interfacesRemoved(Fixture.adapter, ["org.bluez.Adapter1"]))
        #expect(fixture.events == [.stateChanged(.resetting)])
        let again = Fixture.path("/org/bluez/hci2")
        fixture.receive(.interfacesAdded(again, Fixture.adapterObject()))
        #expect(fixture.events == [.stateChanged(.resetting), .stateChanged(.poweredOn)])
        #expect(fixture.host.adapter == again)
    }

    @Test mutating func anotherAdapterIsTakenOnceTheFirstStaysAway() {
        fixture = .poweredOn()
        let other = Fixture.path("/org/bluez/hci1")
        fixture.receive(.interfacesAdded(other, Fixture.adapterObject(address: "00:00:00:00:00:02")))
        fixture.receive(.interfacesRemoved(Fixture.adapter, ["org.bluez.Adapter1"]))
        fixture.fire(.adapterReturn)
        #expect(fixture.events == [.stateChanged(.resetting), .stateChanged(.poweredOn)])
        #expect(fixture.host.adapter == other)
    }

    @Test(
        arguments: [("hci1", "/org/bluez/hci1"), ("00:00:00:00:00:0a", "/org/bluez/hci10"), (nil, "/org/bluez/hci1")]
            as [(String?, String)])
    mutating func anAdapterIsChosenByNameByAddressOrForBeingOn(selector: String?, path: String) {
        fixture = CentralRoleFixture(adapter: selector)
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        fixture.receive(
            .snapshot([
                Fixture.adapter: Fixture.adapterObject(isPowered: false),
                Fixture.path("/org/bluez/hci1"): Fixture.adapterObject(address: "00:00:00:00:00:01"),
                Fixture.path("/org/bluez/hci10"): Fixture.adapterObject(address: "00:00:00:00:00:0A"),
            ]))
        #expect(fixture.host.adapter?.text == path)
        #expect(fixture.events == [.stateChanged(.poweredOn)])
    }

    /// See https://github.com/hbldh/bleak/pull/2012.
    @Test mutating func devicesOfAnotherAdapterAreNotOurs() {
        fixture = CentralRoleFixture(adapter: "hci1")
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        let foreign = Fixture.path("/org/bluez/hci10/dev_F0_F1_F2_F3_F4_F5")
        fixture.receive(.snapshot([Fixture.path("/org/bluez/hci1"): Fixture.adapterObject()]))
        fixture.command(.startScan(ScanParameters()))
        fixture.answerDiscovery()
        fixture.clear()
        fixture.receive(.interfacesAdded(foreign, Fixture.deviceObject(["RSSI": .int16(-1)])))
        #expect(fixture.events == [])
        #expect(fixture.host.directory.count == 0)
    }

    @Test mutating func S30_peersOfTheSnapshotAreKnownFromMemory() {
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        fixture.receive(
            .snapshot([
                Fixture.adapter: Fixture.adapterObject(),
                Fixture.device: Fixture.deviceObject(["Name": .string("Heart"), "Connected": .boolean(true)]),
                Fixture.service: Fixture.attributes()[0].1,
            ]))
        let peer = fixture.peer(at: Fixture.device)
        #expect(fixture.host.knownPeers([peer]).map(\.address) == ["F0:F1:F2:F3:F4:F5"])
        #expect(fixture.host.connectedPeers(offering: [BluetoothUUID(0x180D)]).map(\.id) == [peer])
        #expect(fixture.host.connectedPeers(offering: [BluetoothUUID(0x180F)]) == [])
    }
}
#endif
