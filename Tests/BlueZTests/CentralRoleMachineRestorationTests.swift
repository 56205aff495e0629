#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import FoundationEssentials
import Testing

@testable import BlueZ

/// State restoration with a fake daemon: two fixtures represent two processes.
@Suite struct CentralRoleMachineRestorationTests {
    private typealias Fixture = CentralRoleFixture
    private static let notify = "org.bluez.GattCharacteristic1"

    /// Returns a process with a restore identifier, and the state of an earlier one; the adapter is present.
    private func process(after left: PreservedCentral?, isPowered: Bool = true, isConnected: Bool = false) -> Fixture {
        var fixture = Fixture()
        fixture.input(.restoring(1, left))
        fixture.input(.activated(1))
        fixture.receive(.phase(.ready))
        var objects = [Fixture.adapter: Fixture.adapterObject(isPowered: isPowered)]
        if isConnected {
            let flag = DBusValue.boolean(true)
            objects[Fixture.device] = Fixture.deviceObject(["Connected": flag, "ServicesResolved": flag])
            for (path, interfaces) in Fixture.attributes() { objects[path] = interfaces }
        }
        fixture.receive(.snapshot(objects))
        return fixture
    }

    /// Returns the state that a process with a link and a subscription leaves.
    private func left() throws -> PreservedCentral {
        var fixture = process(after: nil, isConnected: true)
        let peer = fixture.peer(at: Fixture.device)
        fixture.command(.connect(peer: peer, operation: OperationID(rawValue: 7), options: ConnectOptions()))
        fixture.fire(.foreignLinkGrace(peer))
        let link = try #require(fixture.host.context.ledger.leases(of: peer).first?.link)
        let number = fixture.host.links[peer]?.attributes.id(of: Fixture.characteristic)
        let attribute = try #require(number)
        let operation = OperationID(rawValue: 8)
        fixture.command(.request(link: link, operation: operation, .setNotifying(attribute, true)))
        fixture.answer("StartNotify")
        return try #require(fixture.kept.last ?? nil)
    }

    private func restored(_ fixture: Fixture) throws -> RestoredCentralState {
        guard case .restored(let state)? = fixture.events.first else { throw CancellationError() }
        return state
    }

    @Test func whatAManagerHasIsKeptAsItChanges() throws {
        let left = try left()
        #expect(left.adapter == "00:11:22:33:44:55")
        #expect(left.peers.map(\.address) == ["F0:F1:F2:F3:F4:F5"])
        #expect(left.peers.map(\.operation) == [OperationID(rawValue: 7)])
        #expect(left.peers.map(\.notifying) == [["service0010/char0011"]])
        #expect(left.peers.map(\.isOurs) == [false])
    }

    @Test func advertisementsChangeNothingThatIsKept() {
        var fixture = process(after: nil)
        fixture.command(.startScan(ScanParameters(services: ["180D"], allowDuplicates: true)))
        #expect(fixture.kept.map { $0?.scan?.services } == [["180D"]])
        _ = fixture.addDevice()
        fixture.set(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(-40)])
        #expect(fixture.kept.count == 1)
        fixture.command(.stopScan)
        #expect(fixture.kept.count == 2 && fixture.kept.last == .some(nil))
    }

    @Test func S141_S142_aLinkThatIsStillUpIsGivenBackBeforeTheState() throws {
        let left = try left()
        var fixture = process(after: left, isConnected: true)
        let state = try restored(fixture)
        #expect(fixture.events.dropFirst().first == .stateChanged(.poweredOn))
        let peer = try #require(state.peers.first)
        #expect(state.peers.count == 1)
        #expect(peer.summary.id == left.peers.first?.id)
        #expect(peer.operation == OperationID(rawValue: 7))
        #expect(peer.services.map(\.record.uuid.text) == ["180D"])
        #expect(peer.services.first?.characteristics.map(\.uuid.text) == ["2A37"])
        #expect(peer.services.first?.notifying.count == 1)
        #expect(peer.parameters?.writeCredits == CentralLink.writeCredits)
        let link = try #require(peer.link)
        // The values arrive again, and the link can be used and ended.
        #expect(fixture.answer("StartNotify")?.path == Fixture.characteristic)
        let attribute = try #require(peer.services.first?.notifying.first)
        fixture.clear()
        fixture.value([7])
        #expect(fixture.events == [.valueNotified(link: link, attribute: attribute, value: Data([7]))])
    }

    @Test func whatIsGivenBackIsNoChangeAndWhatComesLaterIs() throws {
        var fixture = process(after: try left(), isConnected: true)
        let peer = fixture.peer(at: Fixture.device)
        let link = try #require(fixture.host.context.ledger.leases(of: peer).first?.link)
        fixture.clear()
        fixture.fire(.link(peer, .serviceChanges))
        #expect(fixture.events.isEmpty)
        let uuid = DBusValue.string("0000180f-0000-1000-8000-00805f9b34fb")
        let new = Fixture.path(Fixture.device.text + "/service0020")
        fixture.receive(
            .interfacesAdded(new, ["org.bluez.GattService1": ["UUID": uuid, "Primary": .boolean(true)]]))
        fixture.receive(.interfacesRemoved(Fixture.service, ["org.bluez.GattService1"]))
        fixture.fire(.link(peer, .serviceChanges))
        guard case .servicesChanged(link, let removed, let added)? = fixture.events.first else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(removed.count == 1 && added.map(\.uuid.text) == ["180F"] && fixture.events.count == 1)
    }

    @Test func whetherALinkIsOursToEndIsKeptToo() throws {
        var left = try left()
        left.peers[0].isOurs = true
        var fixture = process(after: left, isConnected: true)
        fixture.answer("StartNotify")
        fixture.command(.disconnect(peer: left.peers[0].id))
        #expect(fixture.waiting.contains("Disconnect"))
    }

    @Test func aLinkThatWentIsAskedForAgain() throws {
        let left = try left()
        var fixture = process(after: left)
        #expect(try restored(fixture).peers.map(\.link) == [nil])
        fixture.clear()
        // As soon as the device is heard.
        #expect(fixture.addDevice() == left.peers.first?.id)
        #expect(fixture.waiting.contains("Connect"))
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(true)])
        fixture.answer("Connect")
        let connected = fixture.events.contains {
            if case .connected(_, _, OperationID(rawValue: 7), _) = $0 { true } else { false }
        }
        #expect(connected)
    }

    @Test func withoutPowerTheScanAloneIsGivenBack() throws {
        var left = try left()
        left.scan = ScanParameters(services: ["180D"])
        var fixture = process(after: left, isPowered: false, isConnected: true)
        #expect(
            fixture.events == [.restored(RestoredCentralState(peers: [], scan: left.scan)), .stateChanged(.poweredOff)])
        fixture.clear()
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(true)])
        #expect(fixture.events == [.stateChanged(.poweredOn)])
        #expect(fixture.kept == [nil])
    }

    @Test func linksOfAnotherAdapterAreNotTakenOver() throws {
        var left = try left()
        left.adapter = "00:00:00:00:00:01"
        #expect(try restored(process(after: left, isConnected: true)).peers.isEmpty)
    }

    @Test func whatMakesNoSenseIsLeftOut() throws {
        var left = try left()
        left.peers[0].notifying = ["service0010/char0099", "", "../../x", "service 0010"]
        let fixture = process(after: left, isConnected: true)
        #expect(try restored(fixture).peers.first?.services.first?.notifying == [])
        #expect(!fixture.waiting.contains("StartNotify"))
    }

    @Test func aPeerThatIsRepeatedIsGivenBackOnce() throws {
        var left = try left()
        left.peers += left.peers
        var other = left.peers[0]
        (other.id, other.operation) = (PeerID(UUID()), OperationID(rawValue: .max))
        left.peers.append(other)
        let fixture = process(after: left, isConnected: true)
        let peers = try restored(fixture).peers
        let peer = fixture.peer(at: Fixture.device)
        #expect(peers.map(\.summary.id) == [peer])
        #expect(peers.first?.link == fixture.host.context.ledger.leases(of: peer).first?.link)
    }

    /// Any content of a file, however unlikely, causes no trap and takes only the resources that it needs.
    @Test func whateverAFileContainsIsBelievedOnlyAsFarAsItMakesSense() throws {
        let sane = try left()
        var random = SeededGenerator(seed: 10)
        let texts = ["", "\u{0}", "F0:F1:F2:F3:F4:F5", "../..", "hci0", String(repeating: "é", count: 500)]
        for _ in 0..<20 {
            var left = sane
            left.adapter = Bool.random(using: &random) ? left.adapter : texts.randomElement(using: &random) ?? ""
            left.peers = (0..<Int.random(in: 0...60, using: &random)).map { number in
                var peer = sane.peers[0]
                let text = texts.randomElement(using: &random) ?? ""
                if number != 7 { peer.address = text + "\(number % 50)" }
                peer.id = Bool.random(using: &random) ? peer.id : PeerID(UUID())
                peer.isRandom = .random(using: &random)
                peer.operation = OperationID(rawValue: .random(in: 0...(.max), using: &random))
                peer.notifying = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    texts.randomElement(using: &random) ?? ""
                }
                return peer
            }
            let fixture = process(after: left, isConnected: true)
            let peers = try restored(fixture).peers
            #expect(Set(peers.map(\.summary.id)).count == peers.count && peers.count <= left.peers.count)
            #expect(fixture.events.count == 2, "what was left, and the state")
        }
    }

    @Test func aSubscriptionThatIsRefusedIsNoneAndLogged() throws {
        var fixture = process(after: try left(), isConnected: true)
        fixture.refuse("StartNotify", "Failed", "Operation failed")
        #expect(fixture.warnings.count == 1)
        fixture.clear()
        fixture.value([7])
        #expect(fixture.events.isEmpty)
        #expect(fixture.kept.last??.peers.first?.notifying == [])
    }

    @Test func S145_whereNothingWasLeftNothingIsRestored() {
        #expect(process(after: nil).events == [.stateChanged(.poweredOn)])
    }

    @Test func aManagerThatWasGivenUpLeavesNothing() throws {
        var fixture = process(after: try left(), isConnected: true)
        fixture.input(.invalidated(1))
        #expect(fixture.kept.last == .some(nil))
    }
}
#endif
