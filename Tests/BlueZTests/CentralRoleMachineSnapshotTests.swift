#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// A snapshot is a state: a further one reports nothing new about known objects.
@Suite struct CentralRoleMachineSnapshotTests {
    private typealias Fixture = CentralRoleFixture
    private static let heartRate = DBusValue.strings(["0000180d-0000-1000-8000-00805f9b34fb"])
    private var fixture = CentralRoleFixture.poweredOn()

    private mutating func snapshot(_ properties: [String: DBusValue], attributes: [String: DBusValue] = [:]) {
        var objects = [
            Fixture.adapter: Fixture.adapterObject(), Fixture.device: Fixture.deviceObject(properties),
        ]
        for (path, object) in Fixture.attributes() {
            objects[path] = object.mapValues { $0.merging(attributes) { $1 } }
        }
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot(objects))
    }

    @Test mutating func aNotificationIsReportedOnce() {
        let (connected, _, link) = Fixture.connected()
        fixture = connected
        fixture.command(.request(link: link, operation: OperationID(rawValue: 2), .discoverServices(nil)))
        guard case .response(_, _, .services(let services))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        let discovery = OperationID(rawValue: 3)
        fixture.command(
            .request(link: link, operation: discovery, .discoverCharacteristics(of: services[0].id, nil)))
        guard case .response(_, _, .characteristics(let records))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        let attribute = records[0].id
        fixture.command(
            .request(link: link, operation: OperationID(rawValue: 4), .setNotifying(attribute, true)))
        fixture.answer("StartNotify")
        fixture.clear()
        fixture.value([7])
        let properties: [String: DBusValue] = ["Connected": .boolean(true), "ServicesResolved": .boolean(true)]
        snapshot(properties, attributes: ["Value": .bytes([7])])
        #expect(fixture.events == [.valueNotified(link: link, attribute: attribute, value: Data([7]))])
    }

    @Test(arguments: [false, true])
    mutating func aConnectionThatIsKnownIsNoEvent(isConnected: Bool) {
        let peer = fixture.addDevice(["UUIDs": Self.heartRate, "Connected": .boolean(isConnected)])
        fixture.command(
            .setConnectionEventFilter(ConnectionEventFilter(services: [BluetoothUUID(0x180D)])))
        for _ in 0..<2 { snapshot(["UUIDs": Self.heartRate, "Connected": .boolean(isConnected)]) }
        #expect(fixture.events == [])
        // A change that was not delivered before is reported.
        snapshot(["UUIDs": Self.heartRate, "Connected": .boolean(!isConnected)])
        #expect(fixture.events == [.connectionEvent(peer: peer, isConnected: !isConnected)])
    }

    @Test(arguments: [false, true])
    mutating func aRemovedDeviceIsDisconnectedIfItWasConnected(isConnected: Bool) {
        let peer = fixture.addDevice(["UUIDs": Self.heartRate, "Connected": .boolean(isConnected)])
        fixture.command(
            .setConnectionEventFilter(ConnectionEventFilter(services: [BluetoothUUID(0x180D)])))
        fixture.receive(.interfacesRemoved(Fixture.device, ["org.bluez.Device1"]))
        #expect(fixture.events == (isConnected ? [.connectionEvent(peer: peer, isConnected: false)] : []))
    }

    @Test mutating func aScanThatJustBeganGoesOn() {
        fixture.command(.startScan(ScanParameters()))
        fixture.answerDiscovery()
        // `Discovering` has not changed yet.
        var adapter = Fixture.adapterObject()
        adapter["org.bluez.Adapter1"]?["Discovering"] = .boolean(false)
        fixture.receive(.snapshot([Fixture.adapter: adapter]))
        fixture.fire(.discoveryRetry)
        #expect(fixture.waiting == [])
        #expect(fixture.host.discovery.isActive)
    }

    @Test mutating func anAdapterThatStayedAwayIsNotExpectedAnew() {
        fixture.receive(.interfacesRemoved(Fixture.adapter, ["org.bluez.Adapter1"]))
        fixture.fire(.adapterReturn)
        #expect(fixture.events == [.stateChanged(.resetting), .stateChanged(.unsupported)])
        fixture.receive(.phase(.ready))
        fixture.receive(.snapshot([:]))
        #expect(fixture.events.count == 2)
        #expect(fixture.host.state == .unsupported)
    }

    /// A snapshot after a `Connect` without a visible link shows no link either: a later link belongs to another
    /// program.
    @Test mutating func aLinkThatComesAfterTheSnapshotIsNotOurs() {
        let peer = fixture.addDevice()
        fixture.command(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        fixture.answer("Connect")
        #expect(fixture.refreshes == 1)
        snapshot(["RSSI": .int16(-50)])
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(true)])
        fixture.command(.disconnect(peer: peer))
        #expect(!fixture.waiting.contains("Disconnect"))
    }
}
#endif
