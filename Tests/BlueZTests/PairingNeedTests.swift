#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// The conditions under which this process needs pairing, on the role machines alone.
@Suite struct PairingNeedTests {
    /// Returns a service with a characteristic that is read over encrypted links.
    private static func safe(_ permissions: AttributePermissions = .readEncryptionRequired) -> ServiceDefinition {
        ServiceDefinition(
            id: AttributeID(rawValue: 50), uuid: "C0DE5000-0000-0000-0000-000000000000",
            characteristics: [
                ServiceDefinition.Characteristic(
                    id: AttributeID(rawValue: 51), uuid: "C0DE5001-0000-0000-0000-000000000000", properties: .read,
                    permissions: permissions)
            ])
    }

    private static func publishing(_ service: ServiceDefinition) -> PeripheralRoleFixture {
        var fixture = PeripheralRoleFixture.serving()
        fixture.command(.addService(operation: OperationID(rawValue: 9), service: service))
        fixture.answer("RegisterApplication")
        return fixture
    }

    @Test func whatIsOpenToAllNeedsNoPairing() {
        var fixture = Self.publishing(Self.safe(.readable))
        fixture.advertise()
        fixture.command(.publishChannel(operation: OperationID(rawValue: 3), isEncryptionRequired: false))
        fixture.input(.listening(1, OperationID(rawValue: 3), .success(0x80), isEncryptionRequired: false))
        #expect(fixture.pairingNeeds.isEmpty && !fixture.host.needsPairing(with: PeripheralRoleFixture.one))
    }

    @Test func aServiceThatRequiresEncryptionNeedsPairingUntilItIsRemoved() {
        var fixture = Self.publishing(Self.safe())
        #expect(fixture.pairingNeeds == [true] && fixture.host.needsPairing(with: PeripheralRoleFixture.one))
        #expect(!fixture.host.needsPairing(with: CentralRoleFixture.path("/org/bluez/hci1/dev_F0_F1_F2_F3_F4_01")))
        fixture.command(.removeService(AttributeID(rawValue: 50)))
        #expect(fixture.pairingNeeds == [true, false])
    }

    @Test func pairingIsNeededNoLongerThanTheManagerLives() {
        var fixture = Self.publishing(Self.safe())
        fixture.input(.invalidated(1))
        #expect(fixture.pairingNeeds == [true, false] && !fixture.host.needsPairing(with: PeripheralRoleFixture.one))
    }

    @Test func pairingIsNeededWhileTheAdapterIsOn() {
        var fixture = Self.publishing(Self.safe())
        fixture.setPowered(false)
        #expect(fixture.pairingNeeds == [true, false])
        fixture.setPowered(true)
        #expect(fixture.pairingNeeds == [true, false, true])
    }

    @Test func anEncryptedChannelNeedsPairingUntilItIsUnpublished() {
        var fixture = PeripheralRoleFixture.serving()
        fixture.command(.publishChannel(operation: OperationID(rawValue: 3), isEncryptionRequired: true))
        fixture.input(.listening(1, OperationID(rawValue: 3), .success(0x80), isEncryptionRequired: true))
        #expect(fixture.pairingNeeds == [true])
        fixture.command(.unpublishChannel(operation: OperationID(rawValue: 4), psm: 0x80))
        #expect(fixture.pairingNeeds == [true, false])
    }

    @Test func pairingIsNeededBeforeAConnectionIsAskedFor() throws {
        var fixture = CentralRoleFixture.poweredOn()
        let peer = fixture.addDevice()
        let connect = CentralCommand.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions())
        let effects = fixture.host.handle(.command(1, connect), at: CentralRoleFixture.date)
        let need = effects.firstIndex { if case .pairingNeedChanged(true) = $0 { true } else { false } }
        let call = effects.firstIndex { if case .call(_, let call) = $0 { call.member == "Connect" } else { false } }
        #expect(try #require(need) < #require(call))
    }

    @Test func aConnectionNeedsPairingFromItsBeginningToItsEnd() {
        var fixture = CentralRoleFixture.poweredOn()
        let peer = fixture.addDevice()
        #expect(fixture.pairingNeeds.isEmpty)
        fixture.command(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        #expect(fixture.pairingNeeds == [true])
        fixture.set(CentralRoleFixture.device, "org.bluez.Device1", ["Connected": .boolean(true)])
        fixture.answer("Connect")
        fixture.command(.disconnect(peer: peer))
        fixture.set(CentralRoleFixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        #expect(fixture.pairingNeeds == [true, false])
    }
}
#endif
