import BluetoothBackend
import Testing

@testable import CoreBluetoothClasses

@Suite struct ChannelListenerTests {
    typealias Fixture = PeripheralMachineFixture

    private func operation(in effects: [PeripheralEffect]) -> OperationID {
        effects.commands.compactMap(\.operation).first ?? OperationID(rawValue: 0)
    }

    private func published() -> Fixture {
        var fixture = Fixture.poweredOn()
        let operation = operation(in: fixture.machine.publishChannel(isEncryptionRequired: true))
        _ = fixture.machine.handle(.channelPublished(operation: operation, psm: 0x81))
        return fixture
    }

    @Test func S146_publishingIsAnsweredWithThePSM() {
        var fixture = Fixture.poweredOn()
        let effects = fixture.machine.publishChannel(isEncryptionRequired: true)
        let operation = operation(in: effects)
        #expect(effects.commands == [.publishChannel(operation: operation, isEncryptionRequired: true)])
        let event = PeripheralEvent.channelPublished(operation: operation, psm: 0x81)
        #expect(fixture.machine.handle(event) == [.callback(.channelPublished(psm: 0x81, nil))])
        #expect(fixture.machine.handle(event).isEmpty)
    }

    @Test func S154_unpublishingIsAnsweredWithThePSM() {
        var fixture = published()
        let effects = fixture.machine.unpublishChannel(psm: 0x81)
        #expect(effects.last == .closeChannels(psm: 0x81))
        let operation = operation(in: effects)
        #expect(
            fixture.machine.handle(.channelUnpublished(operation: operation, psm: 0x81))
                == [.callback(.channelUnpublished(psm: 0x81, nil))])
        let again = fixture.machine.unpublishChannel(psm: 0x81)
        #expect(again == [.complete(.unknownPSM(0x81))])
        guard case .channelUnpublished(0x81, let error) = fixture.machine.handle(.unknownPSM(0x81)).callbacks.first
        else {
            Issue.record("no callback")
            return
        }
        #expect(error?.code == .invalidParameters)
    }

    @Test func failuresAreReportedByTheirCallbacks() {
        var fixture = published()
        let error = BackendError(.outOfSpace, operation: "channel")
        let publish = operation(in: fixture.machine.publishChannel(isEncryptionRequired: false))
        #expect(
            fixture.machine.handle(.operationFailed(operation: publish, error: error))
                == [.callback(.channelPublished(psm: 0, error))])
        let unpublish = operation(in: fixture.machine.unpublishChannel(psm: 0x81))
        #expect(
            fixture.machine.handle(.operationFailed(operation: unpublish, error: error))
                == [.callback(.channelUnpublished(psm: 0x81, error))])
        #expect(fixture.machine.handle(.operationFailed(operation: unpublish, error: error)).isEmpty)
    }

    @Test func aChannelToAPSMThatIsNotPublishedIsClosed() {
        var fixture = published()
        let channel = ChannelID(rawValue: 3)
        #expect(
            fixture.machine.handle(.channelOpened(channel: channel, psm: 0x81, central: Fixture.central, credits: 1))
                == [.callback(.channelOpened(channel, psm: 0x81, Fixture.central))])
        #expect(
            fixture.machine.handle(.channelOpened(channel: channel, psm: 0x82, central: Fixture.central, credits: 1))
                == [.closeChannel(channel)])
    }

    @Test func powerOffEndsAllListening() {
        var fixture = published()
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        #expect(fixture.machine.unpublishChannel(psm: 0x81) == [.complete(.unknownPSM(0x81))])
    }
}
