#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct CentralRoleMachineConnectTests {
    private typealias Fixture = CentralRoleFixture
    private var fixture = CentralRoleFixture.poweredOn()
    private let operation = OperationID(rawValue: 7)

    private mutating func connect(_ peer: PeerID, by manager: Int = 1, autoReconnect: Bool = false) {
        fixture.command(
            .connect(peer: peer, operation: operation, options: ConnectOptions(autoReconnect: autoReconnect)),
            from: manager)
    }

    private mutating func setConnected(_ isConnected: Bool) {
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(isConnected)])
    }

    private var links: [LinkID] {
        fixture.events.compactMap { if case .connected(_, let link, _, _) = $0 { link } else { nil } }
    }

    private var ends: [DisconnectReason] {
        fixture.events.compactMap { if case .disconnected(_, let reason, _, _, _) = $0 { reason } else { nil } }
    }

    // MARK: Connecting

    @Test mutating func S36_aLinkIsReportedWhenTheReplyAndTheChangeAreThere() {
        let peer = fixture.addDevice()
        connect(peer)
        setConnected(true)
        #expect(fixture.events == [])
        fixture.answer("Connect")
        #expect(
            fixture.events == [
                .connected(
                    peer: peer, link: LinkID(rawValue: 1), operation: operation,
                    parameters: LinkParameters(mtu: 23, writeCredits: 16))
            ])
    }

    /// The daemon may have the link's socket before the kernel reports the link, and then does not signal it.
    @Test mutating func aLinkThatNoSignalReportedIsFoundAmongTheObjects() {
        let peer = fixture.addDevice()
        connect(peer)
        fixture.answer("Connect")
        #expect(fixture.events == [] && fixture.refreshes == 1)
        fixture.receive(
            .snapshot([
                CentralRoleFixture.adapter: CentralRoleFixture.adapterObject(),
                CentralRoleFixture.device: CentralRoleFixture.deviceObject(["Connected": .boolean(true)]),
            ]))
        guard case .connected(peer, _, operation, _)? = fixture.events.first else {
            Issue.record("\(fixture.events)")
            return
        }
        // This process may end it.
        fixture.command(.disconnect(peer: peer))
        #expect(fixture.calls.contains { $0.call.member == "Disconnect" })
    }

    /// An app may hold a peripheral for longer than the directory remembers it.
    @Test mutating func aPeerThatIsNotRememberedAnyMoreIsWaitedFor() {
        fixture.host.watch.remember(atLeast: 1)
        let peer = fixture.addDevice()
        fixture.receive(.interfacesRemoved(CentralRoleFixture.device, ["org.bluez.Device1"]))
        let stranger = CentralRoleFixture.path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F6")
        fixture.receive(.interfacesAdded(stranger, CentralRoleFixture.deviceObject(address: "F0:F1:F2:F3:F4:F6")))
        fixture.receive(.interfacesRemoved(stranger, ["org.bluez.Device1"]))
        #expect(fixture.host.knownPeers([peer]) == [])
        connect(peer)
        #expect(fixture.events == [])
        fixture.answerDiscovery()
        #expect(fixture.addDevice() == peer)
        #expect(fixture.calls.contains { $0.call.member == "Connect" && $0.call.path == CentralRoleFixture.device })
    }

    /// See https://github.com/hbldh/bleak/issues/993, https://github.com/hbldh/bleak/issues/1255.
    @Test mutating func S35_aConnectThatFailsIsTriedAgainUntilItSucceeds() {
        let peer = fixture.addDevice()
        connect(peer)
        for _ in 0..<6 {
            setConnected(true)
            setConnected(false)
            let call = fixture.refuse("Connect", "Failed", "le-connection-abort-by-local")
            #expect(call != nil)
            fixture.answerDiscovery()
            fixture.fire(.connectRetry(peer))
        }
        #expect(fixture.events == [])
        setConnected(true)
        fixture.answer("Connect")
        #expect(links.count == 1)
    }

    /// See https://github.com/bluez/bluez/issues/1521.
    @Test mutating func aPeerWhoseObjectIsGoneIsLookedForAndThenConnected() {
        let peer = fixture.addDevice()
        connect(peer)
        fixture.receive(.interfacesRemoved(Fixture.device, ["org.bluez.Device1"]))
        fixture.answer("Connect", with: .failure(DBusError(name: DBusError.Name.unknownObject, message: "")))
        #expect(fixture.waiting == ["SetDiscoveryFilter"])
        fixture.answerDiscovery()
        #expect(fixture.addDevice() == peer)
        #expect(fixture.waiting.contains("Connect"))
        setConnected(true)
        fixture.answer("Connect")
        #expect(links.count == 1)
        fixture.answerDiscovery()
        #expect(fixture.waiting == [])
        #expect(fixture.host.discovery.isActive == false)
    }

    /// The devices of the calls of `Connect` without an answer.
    private var dialed: [ObjectPath] { fixture.calls.filter { $0.call.member == "Connect" }.map(\.call.path) }

    /// The devices of the calls of `Disconnect` without an answer.
    private var disconnected: [ObjectPath] {
        fixture.calls.filter { $0.call.member == "Disconnect" }.map(\.call.path)
    }

    private mutating func addDevices(_ count: Int) -> [(peer: PeerID, path: ObjectPath)] {
        (10..<10 + count).map { octet in
            let path = Fixture.path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_\(octet)")
            let object = Fixture.deviceObject(address: "F0:F1:F2:F3:F4:\(octet)", ["RSSI": .int16(-50)])
            fixture.receive(.interfacesAdded(path, object))
            return (fixture.peer(at: path), path)
        }
    }

    private static let cancelled = DBusError(name: "org.bluez.Error.Failed", message: "br-connection-canceled")

    private mutating func answerConnect(_ path: ObjectPath, _ error: DBusError? = nil) {
        guard let index = fixture.calls.firstIndex(where: { $0.call.member == "Connect" && $0.call.path == path })
        else { return }
        if error == nil { fixture.set(path, "org.bluez.Device1", ["Connected": .boolean(true)]) }
        let id = fixture.calls.remove(at: index).id
        fixture.reply(id, error.map { .failure($0) } ?? .success(.empty))
    }

    @Test mutating func allPeersAreConnectedToAtOnceAndTheOrderOfTheRepliesIsFree() {
        let devices = addDevices(50)
        for device in devices { connect(device.peer) }
        #expect(dialed == devices.map(\.path))
        for device in devices.reversed() { answerConnect(device.path) }
        let connected = fixture.events.compactMap { if case .connected(let peer, _, _, _) = $0 { peer } else { nil } }
        #expect(connected == devices.reversed().map(\.peer))
    }

    @Test mutating func anAbsentPeerDelaysNobodyAndIsNotInterrupted() {
        let devices = addDevices(3)
        for device in devices { connect(device.peer) }
        answerConnect(devices[1].path)
        answerConnect(devices[2].path)
        #expect(links.count == 2)
        #expect(!fixture.waiting.contains("Disconnect"))
        answerConnect(devices[0].path, Self.cancelled)
        #expect(fixture.host.connects.needsScan)
    }

    /// As many absent peers as may be connected to at once delay the next one until the kernel gives up one of them.
    @Test mutating func beyondTheLimitAConnectWaits() {
        let devices = addDevices(ConnectScheduler.maximumInFlight + 1)
        for device in devices { connect(device.peer) }
        #expect(dialed.count == ConnectScheduler.maximumInFlight)
        answerConnect(devices[0].path, Self.cancelled)
        #expect(dialed.last == devices.last?.path)
        #expect(!fixture.waiting.contains("Disconnect"))
    }

    /// See https://github.com/hbldh/bleak/issues/1036.
    @Test mutating func aPeerThatTheDaemonRefusesAsBusyIsTriedAlone() {
        let devices = addDevices(3)
        for device in devices { connect(device.peer) }
        answerConnect(devices[2].path, DBusError(name: "org.bluez.Error.InProgress", message: ""))
        fixture.answerDiscovery()
        fixture.fire(.connectRetry(devices[2].peer))
        answerConnect(devices[0].path)
        #expect(dialed == [devices[1].path])
        answerConnect(devices[1].path, Self.cancelled)
        #expect(dialed == [devices[2].path])
        answerConnect(devices[2].path)
        #expect(links.count == 2)
        fixture.fire(.connectRetry(devices[1].peer))
        #expect(dialed == [devices[1].path])
    }

    /// A cancel among others may prevent all further connects of the kernel.
    @Test mutating func aConnectTakenBackAmongOthersIsLeftToEndByItself() {
        let devices = addDevices(3)
        for device in devices { connect(device.peer) }
        fixture.command(.disconnect(peer: devices[1].peer))
        fixture.command(.disconnect(peer: devices[2].peer))
        #expect(!fixture.waiting.contains("Disconnect"))
        // Its link is closed at once, if it is made.
        answerConnect(devices[1].path)
        #expect(disconnected == [devices[1].path])
        answerConnect(devices[0].path)
        #expect(links.count == 1)
        // The other one is alone now.
        #expect(disconnected == [devices[1].path, devices[2].path])
        answerConnect(devices[2].path, Self.cancelled)
        #expect(!fixture.host.isRunning(.connectRetry(devices[2].peer)))
    }

    @Test mutating func aConnectTakenBackAmongOthersAndWantedAgainGoesOn() {
        let devices = addDevices(2)
        for device in devices { connect(device.peer) }
        fixture.command(.disconnect(peer: devices[0].peer))
        connect(devices[0].peer)
        #expect(dialed.count == 2)
        answerConnect(devices[1].path)
        answerConnect(devices[0].path)
        #expect(links.count == 2 && disconnected == [])
    }

    /// See https://github.com/Bluetooth-Devices/bleak-retry-connector/issues/226.
    @Test mutating func aConnectThatACrashedProgramLeftIsEnded() {
        let peer = fixture.addDevice()
        connect(peer)
        for _ in 0..<3 {
            #expect(!fixture.waiting.contains("Disconnect"))
            fixture.refuse("Connect", "InProgress")
            fixture.answerDiscovery()
            fixture.fire(.connectRetry(peer))
        }
        #expect(fixture.waiting.contains("Disconnect"))
    }

    @Test mutating func aHopelessConnectFails() {
        let peer = fixture.addDevice()
        connect(peer)
        fixture.refuse("Connect", "Failed", "le-connection-concurrent-connection-limit")
        guard case .connectFailed(peer, operation, let error)? = fixture.events.first else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(error.code == .connectionLimitReached)
        connect(peer)
        #expect(fixture.waiting == ["Connect"])
    }

    @Test mutating func S42_aConnectTakenBackIsSilentAndEndsALinkThatCameUpMeanwhile() {
        let peer = fixture.addDevice()
        connect(peer)
        fixture.command(.disconnect(peer: peer))
        #expect(fixture.waiting == ["Connect", "Disconnect"])
        setConnected(true)
        fixture.answer("Connect")
        #expect(fixture.waiting == ["Disconnect", "Disconnect"])
        setConnected(false)
        fixture.answer("Disconnect")
        fixture.answer("Disconnect")
        #expect(fixture.events == [])
        #expect(fixture.host.links.isEmpty)
    }

    @Test mutating func aConnectTakenBackAndWantedAgainIsMadeAgain() {
        let peer = fixture.addDevice()
        connect(peer)
        fixture.command(.disconnect(peer: peer))
        connect(peer)
        fixture.refuse("Connect", "Failed", "br-connection-canceled")
        fixture.fire(.connectRetry(peer))
        setConnected(true)
        fixture.answer("Connect")
        #expect(links.count == 1)
    }

    // MARK: Shared links

    /// See https://github.com/bluez/bluez/issues/89.
    @Test mutating func aLinkOfAnotherProgramIsSharedAndLeftAlone() {
        let peer = fixture.addDevice(["Connected": .boolean(true)])
        connect(peer)
        fixture.fire(.foreignLinkGrace(peer))
        #expect(fixture.waiting == [])
        #expect(links.count == 1)
        fixture.command(.disconnect(peer: peer))
        #expect(ends == [.local])
        #expect(fixture.waiting == [])
    }

    /// The daemon ends a link 2 s after its program released it, and nothing shows that before.
    @Test mutating func aLinkThatAnotherProgramGivesUpIsNotJoinedButMadeAnew() {
        let peer = fixture.addDevice(["Connected": .boolean(true)])
        connect(peer)
        // A change of the device does not mean that the link survives.
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-60)])
        #expect(fixture.waiting == [] && links.isEmpty)
        setConnected(false)
        #expect(fixture.waiting == ["Connect"])
        fixture.fire(.foreignLinkGrace(peer))
        setConnected(true)
        fixture.answer("Connect")
        #expect(links.count == 1)
        // This process may end it.
        fixture.command(.disconnect(peer: peer))
        #expect(fixture.waiting == ["Disconnect"])
    }

    @Test mutating func whoGivesUpAnotherProgramsLinkBeforeItIsJoinedHearsNothingOfIt() {
        let peer = fixture.addDevice(["Connected": .boolean(true)])
        connect(peer)
        fixture.command(.disconnect(peer: peer))
        fixture.fire(.foreignLinkGrace(peer))
        setConnected(false)
        #expect(fixture.events == [] && fixture.waiting == [])
    }

    @Test mutating func aDeviceThatGoesBeforeItsLinkIsJoinedIsLookedFor() {
        let peer = fixture.addDevice(["Connected": .boolean(true)])
        connect(peer)
        fixture.receive(.interfacesRemoved(Fixture.device, ["org.bluez.Device1"]))
        fixture.fire(.foreignLinkGrace(peer))
        #expect(!fixture.waiting.contains("Connect"))
        #expect(fixture.host.connects.needsScan)
    }

    @Test mutating func aPeerThatAnotherProgramConnectsIsConnected() {
        let peer = fixture.addDevice()
        connect(peer)
        fixture.refuse("Connect", "Failed", "le-connection-abort-by-local")
        setConnected(true)
        #expect(links.count == 1)
        fixture.fire(.connectRetry(peer))
        #expect(!fixture.waiting.contains("Connect"))
    }

    @Test mutating func twoManagersShareALinkAndTheLastOneEndsIt() {
        fixture.input(.activated(2))
        let peer = fixture.addDevice()
        connect(peer)
        connect(peer, by: 2)
        setConnected(true)
        fixture.answer("Connect")
        #expect(links == [LinkID(rawValue: 1), LinkID(rawValue: 2)])
        fixture.command(.disconnect(peer: peer))
        #expect(fixture.eventsByManager[1]?.count == 2)
        #expect(fixture.waiting == [])
        fixture.input(.invalidated(2))
        #expect(fixture.waiting == ["Disconnect"])
    }

    // MARK: Disconnecting

    @Test mutating func S40_aCancelledLinkEndsAtOnceAndIsFreeAgainWhenItIsDown() {
        var (fixture, peer, link) = Fixture.connected()
        fixture.command(.disconnect(peer: peer))
        #expect(
            fixture.events == [
                .disconnected(link: link, reason: .local, at: Fixture.date, isReconnecting: false)
            ])
        fixture.command(.connect(peer: peer, operation: operation, options: ConnectOptions()))
        #expect(fixture.waiting == ["Disconnect"])
        // bluetoothd may reply before it reports that the link is down.
        fixture.answer("Disconnect")
        #expect(fixture.waiting == [])
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        #expect(fixture.waiting == ["Connect"])
    }

    /// See https://github.com/bluez/bluez/issues/947.
    @Test mutating func aDisconnectThatNeverRepliesEndsTheLink() {
        var (fixture, peer, _) = Fixture.connected()
        fixture.command(.disconnect(peer: peer))
        fixture.answer("Disconnect", with: .failure(DBusError(name: DBusError.Name.noReply, message: "")))
        #expect(fixture.host.links.isEmpty)
    }

    @Test(
        arguments: [
            ("Timeout", DisconnectReason.timeout), ("Remote", .remote), ("Authentication", .authentication),
            ("Local", .unknown), (nil, .unknown),
        ] as [(String?, DisconnectReason)])
    mutating func S44_theReasonIsReportedWhereTheDaemonGivesIt(reason: String?, expected: DisconnectReason) {
        var (fixture, peer, link) = Fixture.connected()
        if let reason { fixture.receive(.disconnected(Fixture.device, "org.bluez.Reason." + reason)) }
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.fire(.link(peer, .powerLoss))
        #expect(
            fixture.events == [
                .disconnected(link: link, reason: expected, at: Fixture.date, isReconnecting: false)
            ])
    }

    @Test mutating func aRemovedObjectEndsItsLink() {
        var (fixture, peer, _) = Fixture.connected()
        fixture.receive(.interfacesRemoved(Fixture.device, ["org.bluez.Device1"]))
        fixture.fire(.link(peer, .powerLoss))
        #expect(fixture.events.count == 1)
        #expect(fixture.host.links.isEmpty)
    }

    @Test mutating func S49_aLostLinkThatIsWantedBackIsDialledAgain() {
        let peer = fixture.addDevice()
        connect(peer, autoReconnect: true)
        setConnected(true)
        fixture.answer("Connect")
        setConnected(false)
        fixture.fire(.link(peer, .powerLoss))
        guard case .disconnected(_, _, _, isReconnecting: true, _)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        setConnected(true)
        fixture.answer("Connect")
        #expect(links.count == 2)
        #expect(Set(links).count == 2)
    }

    /// The end of the first link is reported before the second one begins.
    @Test mutating func aLinkThatIsBackAtOnceIsAnotherOne() {
        let peer = fixture.addDevice()
        connect(peer, autoReconnect: true)
        setConnected(true)
        fixture.answer("Connect")
        setConnected(false)
        setConnected(true)
        #expect(ends.count == 1)
        #expect(links.count == 2)
    }

    @Test mutating func S155_connectionsOfOthersAreReportedToThoseWhoAsk() {
        let peer = fixture.addDevice(["UUIDs": .strings(["0000180d-0000-1000-8000-00805f9b34fb"])])
        setConnected(true)
        fixture.command(.setConnectionEventFilter(ConnectionEventFilter(services: [BluetoothUUID(0x180D)])))
        setConnected(false)
        setConnected(true)
        fixture.command(.setConnectionEventFilter(nil))
        setConnected(false)
        #expect(
            fixture.events == [
                .connectionEvent(peer: peer, isConnected: false), .connectionEvent(peer: peer, isConnected: true),
            ])
    }

    // MARK: Bearers

    /// See https://github.com/hbldh/bleak/issues/1521.
    @Test(arguments: [("last-used", ["Set", "Connect"]), ("le", ["Connect"]), (nil, ["Connect"])])
    func aDeviceOfBothKindsIsConnectedToOverLE(bearer: String?, members: [String]) {
        var fixture = CentralRoleFixture.poweredOn()
        var properties: [String: DBusValue] = ["RSSI": .int16(-50)]
        if let bearer { properties["PreferredBearer"] = .string(bearer) }
        let peer = fixture.addDevice(properties)
        fixture.command(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        #expect(fixture.waiting == members)
        guard members.count == 2 else { return }
        #expect(fixture.calls[0].call.body.last == .variant(.string("le")))
    }
}
#endif
