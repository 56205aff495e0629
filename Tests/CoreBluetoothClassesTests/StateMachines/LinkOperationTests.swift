import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct LinkOperationTests {
    private let peer = MachineFixture.peer
    private let handle = MachineFixture.handle
    private let bytes = Data([1, 2, 3])

    private func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    @Test func S55_commandsWithoutALinkAreLoggedAndIgnored() {
        for var fixture in [MachineFixture.poweredOn(), MachineFixture.connecting()] {
            #expect(
                fixture.machine.request(handle, .readRSSI) == [.misuse(.notConnected(peer))])
            #expect(
                fixture.machine.writeCommand(handle, to: fixture.reference(1), properties: .writeWithoutResponse, bytes)
                    == [.misuse(.notConnected(peer))])
        }
    }

    @Test func S57_discoveriesAccumulate() {
        var fixture = MachineFixture.connected()
        let battery = ServiceRecord(id: id(1), uuid: "180F", isPrimary: true)
        let heart = ServiceRecord(id: id(2), uuid: "180D", isPrimary: true)
        let first = fixture.discoverServices()
        #expect(
            fixture.machine.handle(.response(link: fixture.link, operation: first, .services([battery])))
                .callbacks == [.response(peer, fixture.link, .discoverServices(nil), .services([battery]))])
        let second = fixture.discoverServices()
        #expect(
            fixture.machine.handle(.response(link: fixture.link, operation: second, .services([battery, heart])))
                .callbacks == [.response(peer, fixture.link, .discoverServices(nil), .services([heart]))])
    }

    @Test func S58_gapGattAndHIDAreHidden() {
        var fixture = MachineFixture.connected()
        let uuids: [BluetoothUUID] = ["1800", "1801", "180F", "1812"]
        let all = uuids.enumerated().map { ServiceRecord(id: id(UInt32($0.offset)), uuid: $0.element, isPrimary: true) }
        let operation = fixture.discoverServices()
        #expect(
            fixture.machine.handle(.response(link: fixture.link, operation: operation, .services(all)))
                .callbacks == [.response(peer, fixture.link, .discoverServices(nil), .services([all[2]]))])
    }

    @Test func S64_aFailedDiscoveryKeepsWhatIsKnown() {
        var fixture = MachineFixture.connected()
        let error = BackendError(.unknown, operation: "discover")
        let operation = fixture.discoverServices()
        #expect(
            fixture.machine.handle(.response(link: fixture.link, operation: operation, .failure(error))).callbacks
                == [.response(peer, fixture.link, .discoverServices(nil), .failure(error))])
    }

    @Test func S67_aReadIsAnsweredOnce() {
        var fixture = MachineFixture.connected()
        let operation = fixture.read(1)
        let event = CentralEvent.response(link: fixture.link, operation: operation, .value(bytes))
        #expect(
            fixture.machine.handle(event).callbacks == [.response(peer, fixture.link, .read(id(1)), .value(bytes))])
        #expect(fixture.machine.handle(event).isEmpty)
    }

    @Test func S74_aWriteIsAnsweredWithThePeersResult() {
        var fixture = MachineFixture.connected()
        let effects = fixture.machine.write(handle, to: fixture.reference(1), bytes)
        guard case .request(_, let operation, .write(id(1), bytes, 0))? = effects.commands.first else {
            Issue.record("no write in \(effects)")
            return
        }
        let error = BackendError.att(0x03, operation: "write")
        #expect(
            fixture.machine.handle(.response(link: fixture.link, operation: operation, .failure(error))).callbacks
                == [.response(peer, fixture.link, .write(id(1), bytes), .failure(error))])
    }

    @Test func S78_aWriteCommandWithoutThePropertyIsDropped() {
        var fixture = MachineFixture.connected()
        #expect(
            fixture.machine.writeCommand(handle, to: fixture.reference(1), properties: .write, bytes)
                == [.misuse(.writeWithoutResponseNotSupported(id(1)))])
    }

    @Test func S79_theLongestWriteCommandIsMTULessThree() {
        var fixture = MachineFixture.connected()
        #expect(fixture.machine.peer(handle)?.client.maximumCommandLength == 20)
        _ = fixture.machine.handle(.mtuChanged(link: fixture.link, mtu: 185))
        #expect(fixture.machine.peer(handle)?.client.maximumCommandLength == 182)
        _ = fixture.machine.handle(.mtuChanged(link: fixture.link, mtu: 517))
        #expect(fixture.machine.peer(handle)?.client.maximumCommandLength == 512)
    }

    @Test func S81_aValueOfMoreThan512BytesFailsHere() {
        var fixture = MachineFixture.connected()
        let effects = fixture.machine.write(
            handle, to: fixture.reference(1), Data(count: 513))
        guard case .complete(.response(_, _, .write, .failure(let error)))? = effects.first else {
            Issue.record("no local failure in \(effects)")
            return
        }
        #expect(error.attCode == 0x0D)
    }

    @Test func S82_aWriteCommandThatDoesNotFitIsDropped() {
        var fixture = MachineFixture.connected()
        #expect(
            fixture.machine.writeCommand(
                handle, to: fixture.reference(1), properties: .writeWithoutResponse, Data(count: 21))
                == [.misuse(.writeCommandTooLong(id(1), length: 21, maximum: 20))])
    }

    @Test func S84_aWriteCommandWithoutACreditIsDroppedAndLogged() {
        var fixture = MachineFixture.connected()
        for _ in 0..<2 {
            #expect(
                fixture.machine.writeCommand(handle, to: fixture.reference(1), properties: .writeWithoutResponse, bytes)
                    .commands.count == 1)
        }
        #expect(
            fixture.machine.writeCommand(handle, to: fixture.reference(1), properties: .writeWithoutResponse, bytes)
                == [.misuse(.transmitQueueFull(id(1)))])
    }

    @Test func S86_readyComesWhenAFullQueueGetsRoomAndWhenABurstHasLeft() {
        var fixture = MachineFixture.connected()
        #expect(fixture.machine.handle(.writeCredits(link: fixture.link, count: 1)).isEmpty)
        fixture.write(3)
        #expect(fixture.creditCallbacks(1) == [.readyToWrite(peer)])
        #expect(fixture.creditCallbacks(1).isEmpty)
        #expect(fixture.creditCallbacks(1) == [.readyToWrite(peer)])
        #expect(fixture.creditCallbacks(1).isEmpty)
    }

    @Test func S86_aBurstThatDoesNotFillTheQueueIsAnnouncedOnce() {
        var fixture = MachineFixture.connected()
        #expect(fixture.machine.handle(.writeCredits(link: fixture.link, count: 8)).isEmpty)
        fixture.write(4)
        #expect(fixture.creditCallbacks(3).isEmpty)
        fixture.write(1)
        #expect(fixture.creditCallbacks(1).isEmpty)
        #expect(fixture.creditCallbacks(1) == [.readyToWrite(peer)])
        // More credits return than were spent: nothing is announced.
        #expect(fixture.creditCallbacks(5).isEmpty)
    }

    @Test func S86_oneChunkForEachCallNeverStalls() {
        var fixture = MachineFixture.connected()
        fixture.write(1)
        for _ in 0..<100 {
            #expect(fixture.creditCallbacks(1) == [.readyToWrite(peer)])
            fixture.write(1)
        }
    }

    @Test func S86_whereBurstsAreNotAnnouncedOnlyAFullQueueIs() {
        var fixture = MachineFixture.connected()
        fixture.machine.announcesSentBursts = false
        fixture.write(1)
        #expect(fixture.creditCallbacks(1).isEmpty)
        fixture.write(2)
        #expect(fixture.creditCallbacks(1) == [.readyToWrite(peer)])
        #expect(fixture.creditCallbacks(1).isEmpty)
    }

    @Test func S85_aLinkThatIsNotReadyAtFirstSaysWhenItIs() {
        var fixture = MachineFixture.connected()
        let dry = fixture.reconnected(credits: 0)
        #expect(fixture.machine.peer(handle)?.client.writeCredits == 0)
        #expect(fixture.machine.handle(.writeCredits(link: dry, count: 20)).callbacks == [.readyToWrite(peer)])
    }

    @Test func S89_neitherNotifyNorIndicateIsRequestNotSupported() {
        var fixture = MachineFixture.connected()
        let effects = fixture.machine.setNotify(handle, fixture.reference(1), properties: .read, true)
        guard case .complete(.response(_, _, .setNotifying, .failure(let error)))? = effects.first else {
            Issue.record("no local failure in \(effects)")
            return
        }
        #expect(error.attCode == 0x06)
    }

    @Test func S90_theStateInForceIsAnsweredWithoutTheBackend() {
        var fixture = MachineFixture.connected()
        #expect(
            fixture.machine.setNotify(handle, fixture.reference(1), properties: .notify, false)
                == [.complete(.response(handle, fixture.link, .setNotifying(id(1), false), .notifying(false)))])
    }

    @Test func S90_aChangeUnderWayIsNotInForce() {
        var fixture = MachineFixture.connected()
        #expect(fixture.machine.setNotify(handle, fixture.reference(1), properties: .notify, true).commands.count == 1)
        #expect(fixture.machine.setNotify(handle, fixture.reference(1), properties: .notify, false).commands.count == 1)
    }

    @Test func S90_aSubscriptionThatEndedByItselfIsNotInForce() {
        var fixture = MachineFixture.connected()
        let (reference, error) = (fixture.reference(1), BackendError(.unknown, operation: "StartNotify"))
        let end = CentralEvent.subscriptionEnded(link: fixture.link, attribute: id(1), error: error)
        #expect(fixture.machine.handle(end).isEmpty, "there is none")
        guard
            case .request(_, let operation, _)? =
                fixture.machine.setNotify(handle, reference, properties: .notify, true).commands.first
        else {
            Issue.record("no request")
            return
        }
        _ = fixture.machine.handle(.response(link: fixture.link, operation: operation, .notifying(true)))
        #expect(fixture.machine.handle(end).callbacks == [.subscriptionEnded(peer, id(1), error)])
        #expect(fixture.machine.setNotify(handle, reference, properties: .notify, true).commands.count == 1)
    }

    @Test func S66_aLocalAnswerWaitsForTheOperationsBeforeIt() {
        var fixture = MachineFixture.connected()
        let operation = fixture.read(1)
        #expect(fixture.machine.setNotify(handle, fixture.reference(2), properties: .notify, false).isEmpty)
        let effects = fixture.machine.handle(
            .response(link: fixture.link, operation: operation, .value(bytes)))
        #expect(
            effects.callbacks == [
                .response(peer, fixture.link, .read(id(1)), .value(bytes)),
                .response(peer, fixture.link, .setNotifying(id(2), false), .notifying(false)),
            ])
    }

    @Test func S101_onlyDiscoveredServicesAreReportedAsInvalid() {
        var fixture = MachineFixture.connected()
        let known = ServiceRecord(id: id(1), uuid: "180F", isPrimary: true)
        let operation = fixture.discoverServices()
        _ = fixture.machine.handle(.response(link: fixture.link, operation: operation, .services([known])))
        #expect(
            fixture.machine.handle(.servicesChanged(link: fixture.link, removed: [id(1), id(9)], added: []))
                .callbacks == [.servicesModified(peer, removed: [id(1)])])
        #expect(
            fixture.machine.handle(.servicesChanged(link: fixture.link, removed: [id(1)], added: []))
                .callbacks == [.servicesModified(peer, removed: [])])
    }

    @Test func anAnswerOfTheWrongKindIsAFailureAndNoTrap() {
        var fixture = MachineFixture.connected()
        let operation = fixture.read(1)
        let effects = fixture.machine.handle(.response(link: fixture.link, operation: operation, .rssi(-40)))
        guard case .response(_, _, .read, .failure)? = effects.callbacks.first else {
            Issue.record("no failure in \(effects)")
            return
        }
    }

    @Test func anAttributeOfAnEarlierLinkIsLoggedAndIgnored() {
        var fixture = MachineFixture.connected()
        let stale = AttributeReference(link: LinkID(rawValue: 1), id: id(1))
        #expect(
            fixture.machine.setNotify(handle, stale, properties: .notify, true) == [.misuse(.staleAttribute(id(1)))])
    }
}
