#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// The consequences for the link when the user of this process refuses a pairing.
@Suite struct CentralRoleMachineSecurityTests {
    private var fixture: CentralRoleFixture
    private let peer: PeerID
    private let link: LinkID

    init() { (fixture, peer, link) = CentralRoleFixture.connected() }

    /// Reads the one characteristic; the daemon does not answer.
    private mutating func read(_ operation: UInt64) {
        fixture.command(.request(link: link, operation: OperationID(rawValue: 1), .discoverServices(nil)))
        var found = AttributeID(rawValue: 0)
        for case .response(_, _, .services(let records)) in fixture.events { found = records.first?.id ?? found }
        fixture.command(
            .request(link: link, operation: OperationID(rawValue: 2), .discoverCharacteristics(of: found, nil)))
        for case .response(_, _, .characteristics(let records)) in fixture.events { found = records.first?.id ?? found }
        fixture.clear()
        fixture.command(.request(link: link, operation: OperationID(rawValue: operation), .read(found)))
    }

    @Test mutating func S72_whatNeededTheRefusedPairingFailsAndTheLinkEnds() {
        read(7)
        fixture.input(.pairingRefused(peer))
        guard case .response(link, OperationID(rawValue: 7), .failure(let error))? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(error.attCode == 0x05)
        #expect(fixture.calls.map(\.call.member) == ["ReadValue", "Disconnect"])
        // The late reply of the daemon changes nothing.
        fixture.refuse("ReadValue", "org.bluez.Error.Failed", "Operation failed with ATT error: 0x0e")
        #expect(fixture.events.count == 1)
        fixture.set(CentralRoleFixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        guard case .disconnected(link, .unknown, _, _, _)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
    }

    @Test mutating func aRefusalThatConcernsNoOperationOfOursChangesNothing() {
        fixture.input(.pairingRefused(peer))
        fixture.input(.pairingRefused(PeerID(UUID())))
        #expect(fixture.events.isEmpty && fixture.calls.isEmpty)
    }
}
#endif
