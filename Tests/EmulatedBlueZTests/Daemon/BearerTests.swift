import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// The bearer of a device, and the reason for the end of a link, in BlueZ 5.87.
@Suite struct BearerTests {
    private static let interface = "org.bluez.Bearer.LE1"
    private static let newest = EmulatedBlueZConfiguration(dialect: .bluez5_87)
    private static let experimental = EmulatedBlueZConfiguration(dialect: .bluez5_87, isExperimental: true)

    private static func end(_ fixture: inout DaemonFixture, _ reason: DisconnectReason) {
        fixture.report(.disconnected(link: DaemonFixture.link, reason: reason, at: Date(), isReconnecting: false))
    }

    @Test(arguments: [
        (DisconnectReason.timeout, "Reason.Timeout Connection timeout"),
        (.remote, "Reason.Remote Connection terminated by remote user"),
        (.local, "Reason.Local Connection terminated by local host"),
        (.authentication, "Reason.Authentication Connection terminated due to authentication failure"),
        (.unknown, "Reason.Unknown Unspecified"),
    ])
    func theReasonComesBeforeTheEndIsShown(_ reason: DisconnectReason, _ text: String) {
        var fixture = DaemonFixture.connected(Self.newest)
        Self.end(&fixture, reason)
        #expect(
            fixture.lines() == [
                "dev_C0_DE_00_00_18_0D ServicesResolved=false",
                "dev_C0_DE_00_00_18_0D Bearer.LE1 Disconnected org.bluez.\(text)",
                "dev_C0_DE_00_00_18_0D Device1 Disconnected org.bluez.\(text)",
                "dev_C0_DE_00_00_18_0D Connected=false",
            ])
    }

    @Test(arguments: [BlueZDialect.bluez5_66, .bluez5_82])
    func earlierVersionsTellNoReason(_ dialect: BlueZDialect) {
        var fixture = DaemonFixture.connected(EmulatedBlueZConfiguration(dialect: dialect))
        Self.end(&fixture, .timeout)
        #expect(fixture.lines() == ["dev_C0_DE_00_00_18_0D Connected=false ServicesResolved=false"])
        #expect(!fixture.context.tree.has(Self.interface, at: .constant(DaemonFixture.device)))
    }

    @Test(arguments: ["power", "RemoveDevice", "central", "central that is sent away"])
    func eachEndHasItsReason(_ end: String) {
        var fixture = DaemonFixture.connected(Self.newest)
        switch end {
        case "power":
            fixture.report(.stateChanged(.poweredOff))
            #expect(
                fixture.lines().contains { $0.hasSuffix("Device1 Disconnected org.bluez.Reason.Unknown Unspecified") })
        case "RemoveDevice":
            fixture.call("RemoveDevice", .objectPath(.constant(DaemonFixture.device)))
            #expect(fixture.lines().contains { $0.contains("Device1 Disconnected org.bluez.Reason.Local") })
        default:
            let central = PeerID(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)))
            let facts = PeerFacts(peer: central, address: "C0:DE:00:00:00:02")
            fixture.handle(.centralConnected(adapter: 0, facts))
            let path = DaemonFixture.adapter + "/dev_C0_DE_00_00_00_02"
            if end != "central" {
                fixture.call("Disconnect", on: path, "org.bluez.Device1")
                fixture.pass(.seconds(2))
                for case .schedule(let timer, _) in fixture.outputs { fixture.handle(.timer(timer)) }
            }
            fixture.handle(.centralDisconnected(adapter: 0, central))
            let reason = end == "central" ? "Remote" : "Local"
            #expect(fixture.lines().contains { $0.contains("Device1 Disconnected org.bluez.Reason.\(reason)") })
        }
    }

    // MARK: Experimental

    @Test func onlyTheSignalOfABearerIsNotExperimental() {
        func bearer(_ configuration: EmulatedBlueZConfiguration) -> (methods: [String], properties: [String]) {
            let definition = DaemonFixture.connected(configuration).daemon.context.interfaces[Self.interface]
            return (definition?.methods.map(\.name) ?? [], definition?.properties.map(\.name) ?? [])
        }
        let (usual, all) = (bearer(Self.newest), bearer(Self.experimental))
        #expect(usual.methods == [] && usual.properties == [])
        #expect(all.methods == ["Connect", "Disconnect"])
        #expect(all.properties == ["Adapter", "Paired", "Bonded", "Connected"])
    }

    @Test func aBearerShowsWhatItsDeviceShows() {
        var fixture = DaemonFixture.connected(Self.experimental)
        func shown() -> [String: DBusValue]? {
            fixture.context.tree.properties(of: Self.interface, at: .constant(DaemonFixture.device))
        }
        let adapter = DBusValue.objectPath(.constant(DaemonFixture.adapter))
        #expect(
            shown() == [
                "Adapter": adapter, "Paired": .boolean(false), "Bonded": .boolean(false), "Connected": .boolean(true),
            ])
        fixture.handle(.pairing(adapter: 0, .paired(peer: DaemonFixture.peer, operation: nil, isBonded: true)))
        Self.end(&fixture, .remote)
        #expect(
            shown() == [
                "Adapter": adapter, "Paired": .boolean(true), "Bonded": .boolean(true), "Connected": .boolean(false),
            ])
    }

    @Test func aBearerIsConnectedOnce() {
        var fixture = DaemonFixture(Self.experimental)
        fixture.call("StartDiscovery")
        fixture.hear()
        fixture.call("Disconnect", on: DaemonFixture.device, Self.interface)
        fixture.call("Connect", on: DaemonFixture.device, Self.interface)
        fixture.call("Connect", on: DaemonFixture.device, Self.interface)
        fixture.becomeConnected()
        fixture.call("Connect", on: DaemonFixture.device, Self.interface)
        #expect(
            fixture.lines().filter { $0.hasPrefix("answer") || $0.hasPrefix("refuse") } == [
                "answer 1", "refuse 2 NotConnected: Not Connected", "refuse 4 InProgress: In Progress", "answer 3",
                "refuse 5 AlreadyConnected: Already Connected",
            ])
    }

    @Test func aBearerIsDisconnectedBeforeItsDeviceIs() {
        var fixture = DaemonFixture.connected(Self.experimental)
        fixture.call("Disconnect", on: DaemonFixture.device, Self.interface)
        fixture.call("Disconnect", on: DaemonFixture.device, "org.bluez.Device1")
        fixture.call("Disconnect", on: DaemonFixture.device, Self.interface)
        #expect(fixture.lines() == ["schedule 2.0 seconds", "refuse 5 InProgress: In Progress"])
        Self.end(&fixture, .local)
        #expect(
            fixture.lines() == [
                "dev_C0_DE_00_00_18_0D ServicesResolved=false", "answer 3", "dev_C0_DE_00_00_18_0D Connected=false",
                "dev_C0_DE_00_00_18_0D Bearer.LE1 Disconnected org.bluez.Reason.Local Connection terminated by local host",
                "answer 4",
                "dev_C0_DE_00_00_18_0D Device1 Disconnected org.bluez.Reason.Local Connection terminated by local host",
                "dev_C0_DE_00_00_18_0D Connected=false",
            ])
    }
}
