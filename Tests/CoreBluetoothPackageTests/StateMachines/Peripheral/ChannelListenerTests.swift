import BluetoothBackend
import Testing

@testable import CoreBluetoothPackage

@Suite struct ChannelListenerTests {
    typealias Stage = PeripheralMachineStage

    private func operation(in effects: [PeripheralEffect]) -> OperationID {
        effects.commands.compactMap(\.operation).first ?? OperationID(rawValue: 0)
    }

    private func published() -> Stage {
        var stage = Stage.poweredOn()
        let operation = operation(in: stage.machine.publishChannel(isEncryptionRequired: true))
        _ = stage.machine.handle(.channelPublished(operation: operation, psm: 0x81))
        return stage
    }

    /// Proves S146.
    @Test func S146_publishingIsAnsweredWithThePSM() {
        var stage = Stage.poweredOn()
        let effects = stage.machine.publishChannel(isEncryptionRequired: true)
        let operation = operation(in: effects)
        #expect(effects.commands == [.publishChannel(operation: operation, isEncryptionRequired: true)])
        let event = PeripheralEvent.channelPublished(operation: operation, psm: 0x81)
        #expect(stage.machine.handle(event) == [.callback(.channelPublished(psm: 0x81, nil))])
        #expect(stage.machine.handle(event).isEmpty)
    }

    /// Proves S154.
    @Test func S154_unpublishingIsAnsweredWithThePSM() {
        var stage = published()
        let effects = stage.machine.unpublishChannel(psm: 0x81)
        #expect(effects.last == .closeChannels(psm: 0x81))
        let operation = operation(in: effects)
        #expect(
            stage.machine.handle(.channelUnpublished(operation: operation, psm: 0x81))
                == [.callback(.channelUnpublished(psm: 0x81, nil))])
        let again = stage.machine.unpublishChannel(psm: 0x81)
        #expect(again == [.complete(.unknownPSM(0x81))])
        guard case .channelUnpublished(0x81, let error) = stage.machine.handle(.unknownPSM(0x81)).callbacks.first else {
            Issue.record("no callback")
            return
        }
        #expect(error?.code == .invalidParameters)
    }

    @Test func failuresAreToldByTheirCallbacks() {
        var stage = published()
        let error = BackendError(.outOfSpace, operation: "channel")
        let publish = operation(in: stage.machine.publishChannel(isEncryptionRequired: false))
        #expect(
            stage.machine.handle(.operationFailed(operation: publish, error: error))
                == [.callback(.channelPublished(psm: 0, error))])
        let unpublish = operation(in: stage.machine.unpublishChannel(psm: 0x81))
        #expect(
            stage.machine.handle(.operationFailed(operation: unpublish, error: error))
                == [.callback(.channelUnpublished(psm: 0x81, error))])
        #expect(stage.machine.handle(.operationFailed(operation: unpublish, error: error)).isEmpty)
    }

    @Test func aChannelToAPSMThatIsNotPublishedIsClosed() {
        var stage = published()
        let channel = ChannelID(rawValue: 3)
        #expect(
            stage.machine.handle(.channelOpened(channel: channel, psm: 0x81, central: Stage.central, credits: 1))
                == [.callback(.channelOpened(channel, psm: 0x81, Stage.central))])
        #expect(
            stage.machine.handle(.channelOpened(channel: channel, psm: 0x82, central: Stage.central, credits: 1))
                == [.closeChannel(channel)])
    }

    @Test func powerOffEndsAllListening() {
        var stage = published()
        _ = stage.machine.handle(.stateChanged(.poweredOff))
        _ = stage.machine.handle(.stateChanged(.poweredOn))
        #expect(stage.machine.unpublishChannel(psm: 0x81) == [.complete(.unknownPSM(0x81))])
    }
}
