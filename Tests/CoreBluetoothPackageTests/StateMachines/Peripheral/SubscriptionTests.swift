import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothPackage

@Suite struct SubscriptionTests {
    typealias Stage = PeripheralMachineStage

    private func updates(_ effects: [PeripheralEffect]) -> [(value: [UInt8], centrals: [PeerID]?)] {
        effects.commands.compactMap { command in
            guard case .updateValue(_, let value, let centrals) = command else { return nil }
            return (Array(value), centrals)
        }
    }

    /// Proves S136.
    @Test func S136_eachCentralAndCharacteristicSubscribesOnItsOwn() {
        var stage = Stage.poweredOn()
        stage.publish(Stage.service(characteristics: [Stage.characteristic(1), Stage.characteristic(2)]))
        for key: UInt in [1, 2] {
            for central in [Stage.central, Stage.other] {
                #expect(
                    stage.subscribe(central, key: key)
                        == [.callback(.subscribed(central, stage.id(key), mtu: 23))])
            }
        }
        #expect(stage.subscribe(key: 1).isEmpty)
        #expect(stage.unsubscribe(key: 1) == [.callback(.unsubscribed(Stage.central, stage.id(1)))])
        #expect(stage.unsubscribe(key: 1).isEmpty)
        #expect(updates(stage.update([1], key: 1).effects).map(\.centrals) == [[Stage.other]])
        #expect(updates(stage.update([1], key: 2).effects).map(\.centrals) == [[Stage.central, Stage.other]])
    }

    /// Proves S137.
    @Test func S137_eachTargetNeedsACreditElseNothingIsSent() {
        var stage = Stage.published()
        _ = stage.subscribe(credits: 2)
        _ = stage.subscribe(Stage.other, credits: 1)
        #expect(updates(stage.update([1]).effects).count == 1)
        let full = stage.update([2])
        #expect(!full.isQueued)
        #expect(full.effects.isEmpty)
        #expect(stage.update([3], to: [Stage.central]).isQueued)
        #expect(!stage.update([4], to: [Stage.central]).isQueued)
    }

    /// Proves S137.
    @Test func S137_readyComesOnceWhenARefusedUpdateWouldGo() {
        var stage = Stage.published()
        _ = stage.subscribe(credits: 0)
        _ = stage.subscribe(Stage.other, credits: 0)
        #expect(stage.machine.handle(.notifyCredits(central: Stage.central, count: 1)).isEmpty)
        #expect(!stage.update([1]).isQueued)
        #expect(!stage.update([1]).isQueued)
        #expect(stage.machine.handle(.notifyCredits(central: Stage.central, count: 1)).isEmpty)
        #expect(
            stage.machine.handle(.notifyCredits(central: Stage.other, count: 1)) == [.callback(.readyToUpdate)])
        #expect(stage.machine.handle(.notifyCredits(central: Stage.other, count: 1)).isEmpty)
        #expect(stage.update([1]).isQueued)
    }

    /// Proves S137.
    @Test func S137_aSlowCentralDoesNotHoldUpAnother() {
        var stage = Stage.published()
        _ = stage.subscribe(credits: 0)
        _ = stage.subscribe(Stage.other, credits: 0)
        #expect(!stage.update([1], to: [Stage.central]).isQueued)
        #expect(!stage.update([1], to: [Stage.other]).isQueued)
        #expect(
            stage.machine.handle(.notifyCredits(central: Stage.other, count: 1)) == [.callback(.readyToUpdate)])
    }

    /// Proves S137.
    @Test func S137_readyComesOnceWhenABurstHasLeftForAllItsTargets() {
        var stage = Stage.published()
        _ = stage.subscribe(credits: 20)
        _ = stage.subscribe(Stage.other, credits: 20)
        for _ in 0..<3 { #expect(stage.update([1]).isQueued) }
        #expect(stage.machine.handle(.notifyCredits(central: Stage.central, count: 3)).isEmpty)
        #expect(stage.machine.handle(.notifyCredits(central: Stage.other, count: 2)).isEmpty)
        #expect(
            stage.machine.handle(.notifyCredits(central: Stage.other, count: 1)) == [.callback(.readyToUpdate)])
        #expect(stage.machine.handle(.notifyCredits(central: Stage.other, count: 1)).isEmpty)
    }

    /// Proves S137.
    @Test func S137_oneChunkForEachCallNeverStallsWhateverAnotherCentralDoes() {
        var stage = Stage.published()
        _ = stage.subscribe(credits: 1)
        _ = stage.subscribe(Stage.other, credits: 1)
        #expect(stage.update([0], to: [Stage.other]).isQueued)
        for _ in 0..<100 {
            #expect(stage.update([1], to: [Stage.central]).isQueued)
            #expect(
                stage.machine.handle(.notifyCredits(central: Stage.central, count: 1))
                    == [.callback(.readyToUpdate)])
        }
        #expect(stage.unsubscribe(Stage.other).callbacks == [.unsubscribed(Stage.other, stage.id()), .readyToUpdate])
    }

    /// Proves S137.
    @Test func S137_whereBurstsAreNotAnnouncedOnlyARefusalIsFollowedByReady() {
        var stage = Stage.published()
        stage.machine.announcesSentBursts = false
        _ = stage.subscribe(credits: 1)
        #expect(stage.update([1]).isQueued)
        #expect(stage.machine.handle(.notifyCredits(central: Stage.central, count: 1)).isEmpty)
        #expect(stage.update([1]).isQueued)
        #expect(!stage.update([2]).isQueued)
        #expect(
            stage.machine.handle(.notifyCredits(central: Stage.central, count: 1)) == [.callback(.readyToUpdate)])
    }

    /// Proves S137.
    @Test func S137_theDepartureOfAFullCentralMakesSpace() {
        var stage = Stage.published()
        _ = stage.subscribe(credits: 0)
        _ = stage.subscribe(Stage.other, credits: 1)
        #expect(!stage.update([1]).isQueued)
        #expect(stage.unsubscribe().callbacks == [.unsubscribed(Stage.central, stage.id()), .readyToUpdate])
        #expect(stage.update([1]).isQueued)
    }

    /// Proves S137.
    @Test func S137_theRemovalOfTheServiceMakesSpaceOnTheQueue() {
        var stage = Stage.published()
        _ = stage.subscribe(credits: 0)
        #expect(!stage.update([1]).isQueued)
        let id = stage.id(100)
        let effects = stage.machine.remove(ObjectKey(rawValue: 100))
        #expect(effects.callbacks.isEmpty)
        #expect(stage.machine.handle(effects.completions[0]) == [.forget(id), .callback(.readyToUpdate)])
    }

    @Test func creditsEndWithTheLastSubscription() {
        var stage = Stage.poweredOn()
        stage.publish(Stage.service(characteristics: [Stage.characteristic(1), Stage.characteristic(2)]))
        _ = stage.subscribe(key: 1, credits: 1)
        _ = stage.subscribe(key: 2, credits: 0)
        _ = stage.unsubscribe(key: 1)
        #expect(stage.update([1], key: 2).isQueued)
        _ = stage.unsubscribe(key: 2)
        #expect(stage.machine.handle(.notifyCredits(central: Stage.central, count: 5)).isEmpty)
        _ = stage.subscribe(key: 2, credits: 1)
        #expect(stage.update([1], key: 2).isQueued)
        #expect(!stage.update([1], key: 2).isQueued)
    }

    /// Proves S138.
    @Test func S138_nilMeansAllAndWhoDoesNotSubscribeIsSkipped() {
        var stage = Stage.published()
        _ = stage.subscribe()
        #expect(updates(stage.update([1]).effects).map(\.centrals) == [[Stage.central]])
        #expect(
            updates(stage.update([1], to: [Stage.central, Stage.other]).effects).map(\.centrals)
                == [[Stage.central]])
        let nobody = stage.update([1], to: [Stage.other])
        #expect(nobody.isQueued)
        #expect(nobody.effects.isEmpty)
        #expect(stage.update([1], to: []).isQueued)
    }

    /// Proves S138.
    @Test func S138_withoutSubscribersNothingIsSentAndTheAnswerIsTrue() {
        var stage = Stage.published()
        let result = stage.update([1])
        #expect(result.isQueued)
        #expect(result.effects.isEmpty)
    }

    @Test func aCharacteristicThatIsNotPublishedIsNotUpdated() {
        var stage = Stage.published()
        let unknown = stage.update([1], key: 7)
        #expect(!unknown.isQueued)
        #expect(unknown.effects == [.misuse(.notPublished("FFF1"))])
        #expect(stage.update([1], key: 100).effects == [.misuse(.notPublished("FFF1"))])
    }

    /// Proves S139.
    @Test func S139_aLongValueIsCutForEachCentral() {
        var stage = Stage.published()
        _ = stage.subscribe(mtu: 23)
        _ = stage.subscribe(Stage.other, mtu: 185)
        let value = (0..<30).map { UInt8($0) }
        let sent = updates(stage.update(value).effects)
        #expect(sent.map(\.value) == [Array(value.prefix(20)), value])
        #expect(sent.map(\.centrals) == [[Stage.central], [Stage.other]])
        let short = updates(stage.update([1]).effects)
        #expect(short.map(\.centrals) == [[Stage.central, Stage.other]])
    }

    /// Proves S139.
    @Test func S139_noValueIsLongerThan512Bytes() {
        var stage = Stage.published()
        _ = stage.subscribe(mtu: 517)
        #expect(updates(stage.update(Array(repeating: 1, count: 600)).effects).map(\.value.count) == [512])
    }

    /// Proves S140.
    @Test func S140_theRoomGrowsWithTheMTU() {
        var stage = Stage.published()
        _ = stage.subscribe(mtu: 23)
        #expect(
            stage.machine.handle(.mtuChanged(central: Stage.central, mtu: 100)) == [.changeMTU(Stage.central, 100)])
        #expect(updates(stage.update(Array(repeating: 1, count: 99)).effects).map(\.value.count) == [97])
    }

    /// Proves S140.
    @Test func S140_theLatencyIsAHintWithoutCallback() {
        let stage = Stage.poweredOn()
        #expect(
            stage.machine.setConnectionLatency(.high, of: Stage.central)
                == [.submit(.setConnectionLatency(central: Stage.central, latency: .high))])
    }

    @Test func aSubscriptionToWhatIsGoneIsIgnored() {
        var stage = Stage.published()
        let id = stage.id()
        _ = stage.machine.remove(ObjectKey(rawValue: 100))
        #expect(
            stage.machine.handle(.subscribed(central: Stage.central, attribute: id, mtu: 23, notifyCredits: 1))
                .isEmpty)
    }
}
