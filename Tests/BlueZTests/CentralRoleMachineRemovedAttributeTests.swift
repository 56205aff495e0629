#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Glibc
import Testing

@testable import BlueZ

/// Changes of the peer's services during calls, which `bluetoothd` then never answers.
@Suite struct CentralRoleMachineRemovedAttributeTests {
    private typealias Fixture = CentralRoleFixture
    private var fixture: CentralRoleFixture
    private let peer: PeerID
    private let link: LinkID
    private var service = AttributeID(rawValue: 0)
    private var characteristic = AttributeID(rawValue: 0)

    init() {
        (fixture, peer, link) = Fixture.connected()
        (service, characteristic) = fixture.discover(on: link)
    }

    private mutating func removeService() {
        fixture.receive(.interfacesRemoved(Fixture.characteristic, ["org.bluez.GattCharacteristic1"]))
        fixture.receive(.interfacesRemoved(Fixture.service, ["org.bluez.GattService1"]))
    }

    private func request(_ member: String, _ number: UInt64) -> CentralCommand {
        let operation = OperationID(rawValue: number)
        return switch member {
        case "ReadValue": .request(link: link, operation: operation, .read(characteristic))
        case "WriteValue": .request(link: link, operation: operation, .write(characteristic, Data([1])))
        default: .request(link: link, operation: operation, .setNotifying(characteristic, true))
        }
    }

    private func failure(_ event: CentralEvent?) -> BackendError? {
        if case .response(link, _, .failure(let error))? = event { error } else { nil }
    }

    private var credits: Int {
        fixture.events.reduce(0) { if case .writeCredits(_, let count) = $1 { $0 + count } else { $0 } }
    }

    @Test(arguments: ["ReadValue", "WriteValue", "StartNotify"])
    mutating func aRequestFailsWithItsAttribute(member: String) {
        fixture.command(request(member, 1))
        fixture.command(.request(link: link, operation: OperationID(rawValue: 2), .discoverServices(nil)))
        #expect(fixture.waiting == [member])
        removeService()
        #expect(failure(fixture.events.first)?.code == .invalidHandle)
        // Waiting operations continue.
        guard case .response(link, OperationID(rawValue: 2), .services)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        // A daemon that does answer is late.
        let count = fixture.events.count
        fixture.refuse(member, "Failed", "Operation failed with ATT error: 0x0e")
        #expect(fixture.events.count == count)
    }

    @Test mutating func theRequestsBehindItFailOneAfterTheOther() {
        for number in 1...3 as ClosedRange<UInt64> { fixture.command(request("ReadValue", number)) }
        removeService()
        #expect(fixture.events.count == 3)
        #expect(fixture.events.allSatisfy { failure($0)?.code == .invalidHandle })
        #expect(fixture.waiting == ["ReadValue"])
    }

    @Test mutating func writeCommandsGiveTheirCreditsBack() {
        for byte in UInt8(0)..<4 {
            fixture.command(.writeCommand(link: link, attribute: characteristic, value: Data([byte])))
        }
        removeService()
        #expect(credits == 4)
        fixture.command(.writeCommand(link: link, attribute: characteristic, value: Data([9])))
        #expect(credits == 5)
    }

    @Test(arguments: [false, true])
    mutating func whatItsSocketDidNotTakeGivesItsCreditsBack(wasGiven: Bool) {
        func write(_ byte: UInt8) -> CentralCommand {
            .writeCommand(link: link, attribute: characteristic, value: Data([byte]))
        }
        for byte in UInt8(0)..<UInt8(FastWrites.worthwhile) { fixture.command(write(byte)) }
        while fixture.answer("WriteValue") != nil {}
        fixture.clear()
        fixture.command(write(100))
        #expect(fixture.waiting == ["AcquireWrite"])
        if wasGiven {
            let descriptor = DBusFileDescriptor(adopting: dup(0))
            fixture.answer("AcquireWrite", with: .success([.fileDescriptor(descriptor), .uint16(23)]))
            fixture.command(write(101))
            #expect(credits == 0)
        }
        removeService()
        #expect(credits == (wasGiven ? 2 : 1))
        #expect(fixture.sockets.contains { $0.action == .close } == wasGiven)
        for case .adopt(let descriptor) in fixture.sockets.map(\.action) { close(descriptor) }
    }

    @Test mutating func S66_theEndOfTheLinkIsTheAnswerWhereTheDeviceIsOnItsWayOut() {
        fixture.command(request("ReadValue", 1))
        fixture.set(Fixture.device, "org.bluez.Device1", ["ServicesResolved": .boolean(false)])
        removeService()
        #expect(fixture.events == [])
        let before = fixture
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.fire(.link(peer, .powerLoss))
        #expect(fixture.events.count == 1)
        guard case .disconnected(link, _, _, _, _)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        fixture = before
        fixture.fire(.link(peer, .linkLoss))
        #expect(failure(fixture.events.first)?.code == .invalidHandle)
    }

    @Test mutating func aConnectEndsWithItsObject() {
        let second = Fixture.path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F6")
        let third = Fixture.path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F7")
        for (path, address) in [(second, "F0:F1:F2:F3:F4:F6"), (third, "F0:F1:F2:F3:F4:F7")] {
            fixture.receive(.interfacesAdded(path, Fixture.deviceObject(address: address, ["RSSI": .int16(-50)])))
            let operation = OperationID(rawValue: UInt64(path == second ? 60 : 61))
            fixture.command(
                .connect(peer: fixture.peer(at: path), operation: operation, options: ConnectOptions()))
        }
        func connects() -> [ObjectPath] { fixture.calls.filter { $0.call.member == "Connect" }.map(\.call.path) }
        #expect(connects() == [second, third])
        fixture.receive(.interfacesRemoved(second, ["org.bluez.Device1"]))
        // That reply is no longer expected.
        fixture.refuse("Connect", "Failed", "le-connection-abort-by-local")
        fixture.answerDiscovery()
        let device = Fixture.deviceObject(address: "F0:F1:F2:F3:F4:F6", ["RSSI": .int16(-50)])
        fixture.receive(.interfacesAdded(second, device))
        #expect(connects() == [third, second])
        fixture.set(third, "org.bluez.Device1", ["Connected": .boolean(true)])
        fixture.answer("Connect")
        #expect(connects() == [second])
    }
}
#endif
