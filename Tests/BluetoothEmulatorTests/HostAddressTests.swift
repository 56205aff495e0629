import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Synchronization
import Testing

/// Hosts that change to new private addresses, as centrals and as peripherals.
@Suite struct HostAddressTests {
    /// A handler that records the addresses of connecting centrals.
    private final class Doorman: EmulatedPeripheralHandler {
        let seen = Lock<[DeviceAddress]>([])

        func makeState() -> Bool { false }

        func handle(_ event: DeviceEvent, state: inout Bool, device: inout DeviceActions) {
            if case .connected(let central) = event { seen.withLock { $0.append(central.address) } }
        }
    }

    @Test func aDeviceWithoutKeysMeetsAnotherCentralAndOneWithKeysTheSame() async throws {
        let doorman = Doorman()
        let fixture = Fixture()
        let device = try fixture.emulator.add(EmulatedPeripheral(ContractPeer.description, handler: doorman))
        try await fixture.powerOn()
        for isBonded in [false, false, true, true] {
            if isBonded { fixture.emulator.host.bond(with: device) }
            _ = try await fixture.connect(device)
            _ = try await fixture.run(.disconnect(peer: try #require(device.identifier())))
            fixture.emulator.host.rotateAddress()
        }
        let seen = doorman.seen.withLock { $0 }
        let host = fixture.emulator.host
        #expect(seen[0] == host.address && seen[1] != host.address)
        #expect(seen.suffix(2) == [host.address, host.address])
        // The address is resolvable: its two highest bits are 01.
        #expect(seen[1].bits >> 46 == 1)
        #expect(host.airAddress != host.address)
    }

    @Test func aPeripheralManagerMeetsAnotherCentralUntilTheyAreBonded() async throws {
        let pair = try await ConnectedPair()
        try await pair.subscribe("C0D1")
        let first = try #require(pair.centralID)
        let peer = try #require(pair.device.identifier())
        _ = try await pair.central.run(.disconnect(peer: peer))
        pair.emulator.host.rotateAddress()
        let count = pair.peripheral.events.count
        let link = try await pair.central.connect(pair.device)
        _ = try await pair.central.run(
            .request(link: link, operation: op(1), .setNotifying(pair.dynamic, true)))
        guard case .subscribed(let second, _, _, _)? = pair.peripheral.events(from: count).first else {
            throw Unexpected("\(pair.peripheral.events)")
        }
        #expect(first != second)
    }

    @Test func aHostRotatesByItselfAndIsAnotherPeripheral() async throws {
        let fixture = Fixture()
        let host = try fixture.emulator.add(
            HostDescription(name: "phone", addressRotation: .seconds(900)))
        let peripheral = PeripheralFixture(fixture.emulator, host: "phone")
        try await peripheral.publish()
        try await fixture.powerOn()
        let device = try PeripheralFixture.device(fixture.emulator, host: "phone")
        let first = try await fixture.find(device)
        #expect(host.airAddress == host.address)
        try await fixture.emulator.advance(by: .seconds(900))
        let second = try await fixture.find(device)
        #expect(first != second)
        #expect(host.airAddress != host.address)
    }

    @Test func aHostOutsideOfTheEmulatorHasAPublicAddressAndKeepsItsPort() throws {
        let text = #"{"hosts": [{"name": "phone", "hci": "tcp:127.0.0.1:9033"}, {"name": "tablet"}]}"#
        let world = try WorldDescription(json: Data(text.utf8))
        #expect(world.hosts.map(\.hci) == [.tcp(port: 9033), nil])
        let emulator = try Emulator(world: world, time: .virtual)
        let (phone, tablet) = (try #require(emulator.host(named: "phone")), emulator.host(named: "tablet"))
        #expect(phone.hci == .tcp(port: 9033) && tablet?.hci == nil)
        #expect(!phone.address.isRandom && tablet?.address.isRandom == true)
        #expect(emulator.presentWorld.hosts.map(\.hci) == [.tcp(port: 9033), nil])
    }

    @Test func aPortThatIsNoneIsRefusedWithItsPlace() {
        let text = #"{"hosts": [{"name": "phone", "hci": "tcp:192.168.1.2:9033"}]}"#
        let error = #expect(throws: DescriptionError.self) { try WorldDescription(json: Data(text.utf8)) }
        #expect(error?.path == "hosts[0].hci")
    }

    @Test func aRotationOfLessThanASecondIsRefused() {
        let description = HostDescription(name: "phone", addressRotation: .milliseconds(999))
        let error = #expect(throws: DescriptionError.self) { try Fixture().emulator.add(description) }
        #expect(error?.path == "addressRotation")
        let second = #expect(throws: DescriptionError.self) {
            try WorldDescription(hosts: [description]).validate()
        }
        #expect(second?.path == "hosts[0].addressRotation")
    }
}
