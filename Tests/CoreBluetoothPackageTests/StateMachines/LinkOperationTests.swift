import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothPackage

@Suite struct LinkOperationTests {
    private let peer = MachineStage.peer
    private let handle = MachineStage.handle
    private let bytes = Data([1, 2, 3])

    private func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    /// Proves S55.
    @Test func S55_commandsWithoutALinkAreLoggedAndIgnored() {
        for var stage in [MachineStage.poweredOn(), MachineStage.connecting()] {
            #expect(
                stage.machine.request(handle, .rssi) { .readRSSI(link: $0, operation: $1) }
                    == [.misuse(.notConnected(peer))])
            #expect(
                stage.machine.writeCommand(handle, to: stage.reference(1), properties: .writeWithoutResponse, bytes)
                    == [.misuse(.notConnected(peer))])
        }
    }

    /// Proves S57.
    @Test func S57_discoveriesAccumulate() {
        var stage = MachineStage.connected()
        let battery = ServiceRecord(id: id(1), uuid: "180F", isPrimary: true)
        let heart = ServiceRecord(id: id(2), uuid: "180D", isPrimary: true)
        let first = stage.discoverServices()
        #expect(
            stage.machine.handle(.servicesDiscovered(link: stage.link, operation: first, services: [battery]))
                .callbacks == [.answered(peer, stage.link, .services([battery]))])
        let second = stage.discoverServices()
        #expect(
            stage.machine.handle(.servicesDiscovered(link: stage.link, operation: second, services: [battery, heart]))
                .callbacks == [.answered(peer, stage.link, .services([heart]))])
    }

    /// Proves S58.
    @Test func S58_gapGattAndHIDAreHidden() {
        var stage = MachineStage.connected()
        let uuids: [BluetoothUUID] = ["1800", "1801", "180F", "1812"]
        let all = uuids.enumerated().map { ServiceRecord(id: id(UInt32($0.offset)), uuid: $0.element, isPrimary: true) }
        let operation = stage.discoverServices()
        #expect(
            stage.machine.handle(.servicesDiscovered(link: stage.link, operation: operation, services: all))
                .callbacks == [.answered(peer, stage.link, .services([all[2]]))])
    }

    /// Proves S64.
    @Test func S64_aFailedDiscoveryKeepsWhatIsKnown() {
        var stage = MachineStage.connected()
        let error = BackendError(.unknown, operation: "discover")
        let operation = stage.discoverServices()
        #expect(
            stage.machine.handle(.operationFailed(link: stage.link, operation: operation, error: error)).callbacks
                == [.answered(peer, stage.link, .failed(.services, error))])
    }

    /// Proves S67.
    @Test func S67_aReadIsAnsweredOnce() {
        var stage = MachineStage.connected()
        let operation = stage.read(1)
        let event = CentralEvent.valueRead(link: stage.link, operation: operation, value: bytes)
        #expect(
            stage.machine.handle(event).callbacks == [.answered(peer, stage.link, .characteristicRead(id(1), bytes))])
        #expect(stage.machine.handle(event).isEmpty)
    }

    /// Proves S74.
    @Test func S74_aWriteIsAnsweredWithThePeersResult() {
        var stage = MachineStage.connected()
        let effects = stage.machine.write(handle, .writeCharacteristic(id(1)), to: stage.reference(1), bytes)
        guard case .write(_, let operation, id(1), bytes)? = effects.commands.first else {
            Issue.record("no write in \(effects)")
            return
        }
        let error = BackendError.att(0x03, operation: "write")
        #expect(
            stage.machine.handle(.operationFailed(link: stage.link, operation: operation, error: error)).callbacks
                == [.answered(peer, stage.link, .failed(.writeCharacteristic(id(1)), error))])
    }

    /// Proves S78.
    @Test func S78_aWriteCommandWithoutThePropertyIsDropped() {
        var stage = MachineStage.connected()
        #expect(
            stage.machine.writeCommand(handle, to: stage.reference(1), properties: .write, bytes)
                == [.misuse(.writeWithoutResponseNotSupported(id(1)))])
    }

    /// Proves S79.
    @Test func S79_theLongestWriteCommandIsMTULessThree() {
        var stage = MachineStage.connected()
        #expect(stage.machine.peer(handle)?.maximumCommandLength == 20)
        _ = stage.machine.handle(.mtuChanged(link: stage.link, mtu: 185))
        #expect(stage.machine.peer(handle)?.maximumCommandLength == 182)
        _ = stage.machine.handle(.mtuChanged(link: stage.link, mtu: 517))
        #expect(stage.machine.peer(handle)?.maximumCommandLength == 512)
    }

    /// Proves S81.
    @Test func S81_aValueOfMoreThan512BytesFailsHere() {
        var stage = MachineStage.connected()
        let effects = stage.machine.write(
            handle, .writeCharacteristic(id(1)), to: stage.reference(1), Data(count: 513))
        guard case .complete(.operation(_, _, .failed(.writeCharacteristic, let error)))? = effects.first else {
            Issue.record("no local failure in \(effects)")
            return
        }
        #expect(error.attCode == 0x0D)
    }

    /// Proves S82.
    @Test func S82_aWriteCommandThatDoesNotFitIsDropped() {
        var stage = MachineStage.connected()
        #expect(
            stage.machine.writeCommand(
                handle, to: stage.reference(1), properties: .writeWithoutResponse, Data(count: 21))
                == [.misuse(.writeCommandTooLong(id(1), length: 21, maximum: 20))])
    }

    /// Proves S84.
    @Test func S84_aWriteCommandWithoutACreditIsDroppedAndLogged() {
        var stage = MachineStage.connected()
        for _ in 0..<2 {
            #expect(
                stage.machine.writeCommand(handle, to: stage.reference(1), properties: .writeWithoutResponse, bytes)
                    .commands.count == 1)
        }
        #expect(
            stage.machine.writeCommand(handle, to: stage.reference(1), properties: .writeWithoutResponse, bytes)
                == [.misuse(.transmitQueueFull(id(1)))])
    }

    /// Proves S86.
    @Test func S86_readyComesWhenAFullQueueGetsRoomAndWhenABurstHasLeft() {
        var stage = MachineStage.connected()
        #expect(stage.machine.handle(.writeCredits(link: stage.link, count: 1)).isEmpty)
        stage.write(3)
        #expect(stage.creditCallbacks(1) == [.readyToWrite(peer)])
        #expect(stage.creditCallbacks(1).isEmpty)
        #expect(stage.creditCallbacks(1) == [.readyToWrite(peer)])
        #expect(stage.creditCallbacks(1).isEmpty)
    }

    /// Proves S86.
    @Test func S86_aBurstThatDoesNotFillTheQueueIsAnnouncedOnce() {
        var stage = MachineStage.connected()
        #expect(stage.machine.handle(.writeCredits(link: stage.link, count: 8)).isEmpty)
        stage.write(4)
        #expect(stage.creditCallbacks(3).isEmpty)
        stage.write(1)
        #expect(stage.creditCallbacks(1).isEmpty)
        #expect(stage.creditCallbacks(1) == [.readyToWrite(peer)])
        // More than was spent: there is nothing to announce.
        #expect(stage.creditCallbacks(5).isEmpty)
    }

    /// Proves S86.
    @Test func S86_oneChunkForEachCallNeverStalls() {
        var stage = MachineStage.connected()
        stage.write(1)
        for _ in 0..<100 {
            #expect(stage.creditCallbacks(1) == [.readyToWrite(peer)])
            stage.write(1)
        }
    }

    /// Proves S86.
    @Test func S86_whereBurstsAreNotAnnouncedOnlyAFullQueueIs() {
        var stage = MachineStage.connected()
        stage.machine.announcesSentBursts = false
        stage.write(1)
        #expect(stage.creditCallbacks(1).isEmpty)
        stage.write(2)
        #expect(stage.creditCallbacks(1) == [.readyToWrite(peer)])
        #expect(stage.creditCallbacks(1).isEmpty)
    }

    /// Proves S85.
    @Test func S85_aLinkThatIsNotReadyAtFirstSaysWhenItIs() {
        var stage = MachineStage.connected()
        let dry = stage.reconnected(credits: 0)
        #expect(stage.machine.peer(handle)?.writeCredits == 0)
        #expect(stage.machine.handle(.writeCredits(link: dry, count: 20)).callbacks == [.readyToWrite(peer)])
    }

    /// Proves S89.
    @Test func S89_neitherNotifyNorIndicateIsRequestNotSupported() {
        var stage = MachineStage.connected()
        let effects = stage.machine.setNotify(handle, stage.reference(1), properties: .read, true)
        guard case .complete(.operation(_, _, .failed(.notify, let error)))? = effects.first else {
            Issue.record("no local failure in \(effects)")
            return
        }
        #expect(error.attCode == 0x06)
    }

    /// Proves S90.
    @Test func S90_theStateInForceIsAnsweredWithoutTheRadio() {
        var stage = MachineStage.connected()
        #expect(
            stage.machine.setNotify(handle, stage.reference(1), properties: .notify, false)
                == [.complete(.operation(handle, stage.link, .notifying(id(1), false)))])
    }

    /// Proves S90.
    @Test func S90_aChangeUnderWayIsNotInForce() {
        var stage = MachineStage.connected()
        #expect(stage.machine.setNotify(handle, stage.reference(1), properties: .notify, true).commands.count == 1)
        #expect(stage.machine.setNotify(handle, stage.reference(1), properties: .notify, false).commands.count == 1)
    }

    /// Proves S66.
    @Test func S66_aLocalAnswerWaitsForTheOperationsBeforeIt() {
        var stage = MachineStage.connected()
        let operation = stage.read(1)
        #expect(stage.machine.setNotify(handle, stage.reference(2), properties: .notify, false).isEmpty)
        let effects = stage.machine.handle(
            .valueRead(link: stage.link, operation: operation, value: bytes))
        #expect(
            effects.callbacks == [
                .answered(peer, stage.link, .characteristicRead(id(1), bytes)),
                .answered(peer, stage.link, .notifying(id(2), false)),
            ])
    }

    /// Proves S101.
    @Test func S101_onlyDiscoveredServicesAreToldAsInvalid() {
        var stage = MachineStage.connected()
        let known = ServiceRecord(id: id(1), uuid: "180F", isPrimary: true)
        let operation = stage.discoverServices()
        _ = stage.machine.handle(.servicesDiscovered(link: stage.link, operation: operation, services: [known]))
        #expect(
            stage.machine.handle(.servicesChanged(link: stage.link, removed: [id(1), id(9)], added: []))
                .callbacks == [.servicesModified(peer, removed: [id(1)])])
        #expect(
            stage.machine.handle(.servicesChanged(link: stage.link, removed: [id(1)], added: []))
                .callbacks == [.servicesModified(peer, removed: [])])
    }

    @Test func anAnswerOfTheWrongKindIsAFailureAndNoTrap() {
        var stage = MachineStage.connected()
        let operation = stage.read(1)
        let effects = stage.machine.handle(.rssiRead(link: stage.link, operation: operation, rssi: -40))
        guard case .answered(_, _, .failed(.readCharacteristic, _))? = effects.callbacks.first else {
            Issue.record("no failure in \(effects)")
            return
        }
    }

    @Test func anAttributeOfAnEarlierLinkIsLoggedAndIgnored() {
        var stage = MachineStage.connected()
        let stale = AttributeReference(link: LinkID(rawValue: 1), id: id(1))
        #expect(
            stage.machine.setNotify(handle, stale, properties: .notify, true) == [.misuse(.staleAttribute(id(1)))])
    }
}
