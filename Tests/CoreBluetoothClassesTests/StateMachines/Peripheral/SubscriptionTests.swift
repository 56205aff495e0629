import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct SubscriptionTests {
    typealias Fixture = PeripheralMachineFixture

    private func updates(_ effects: [PeripheralEffect]) -> [(value: [UInt8], centrals: [PeerID]?)] {
        effects.commands.compactMap { command in
            guard case .updateValue(_, let value, let centrals) = command else { return nil }
            return (Array(value), centrals)
        }
    }

    @Test func S136_eachCentralAndCharacteristicSubscribesOnItsOwn() {
        var fixture = Fixture.poweredOn()
        fixture.publish(Fixture.service(characteristics: [Fixture.characteristic(1), Fixture.characteristic(2)]))
        for key: UInt in [1, 2] {
            for central in [Fixture.central, Fixture.other] {
                #expect(
                    fixture.subscribe(central, key: key)
                        == [.callback(.subscribed(central, fixture.id(key), mtu: 23))])
            }
        }
        #expect(fixture.subscribe(key: 1).isEmpty)
        #expect(fixture.unsubscribe(key: 1) == [.callback(.unsubscribed(Fixture.central, fixture.id(1)))])
        #expect(fixture.unsubscribe(key: 1).isEmpty)
        #expect(updates(fixture.update([1], key: 1).effects).map(\.centrals) == [[Fixture.other]])
        #expect(updates(fixture.update([1], key: 2).effects).map(\.centrals) == [[Fixture.central, Fixture.other]])
    }

    @Test func S137_eachTargetNeedsACreditElseNothingIsSent() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(credits: 2)
        _ = fixture.subscribe(Fixture.other, credits: 1)
        #expect(updates(fixture.update([1]).effects).count == 1)
        let full = fixture.update([2])
        #expect(!full.isQueued)
        #expect(full.effects.isEmpty)
        #expect(fixture.update([3], to: [Fixture.central]).isQueued)
        #expect(!fixture.update([4], to: [Fixture.central]).isQueued)
    }

    @Test func S137_readyComesOnceWhenARefusedUpdateWouldGo() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(credits: 0)
        _ = fixture.subscribe(Fixture.other, credits: 0)
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.central, count: 1)).isEmpty)
        #expect(!fixture.update([1]).isQueued)
        #expect(!fixture.update([1]).isQueued)
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.central, count: 1)).isEmpty)
        #expect(
            fixture.machine.handle(.notifyCredits(central: Fixture.other, count: 1)) == [.callback(.readyToUpdate)])
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.other, count: 1)).isEmpty)
        #expect(fixture.update([1]).isQueued)
    }

    @Test func S137_aSlowCentralDoesNotHoldUpAnother() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(credits: 0)
        _ = fixture.subscribe(Fixture.other, credits: 0)
        #expect(!fixture.update([1], to: [Fixture.central]).isQueued)
        #expect(!fixture.update([1], to: [Fixture.other]).isQueued)
        #expect(
            fixture.machine.handle(.notifyCredits(central: Fixture.other, count: 1)) == [.callback(.readyToUpdate)])
    }

    @Test func S137_readyComesOnceWhenABurstHasLeftForAllItsTargets() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(credits: 20)
        _ = fixture.subscribe(Fixture.other, credits: 20)
        for _ in 0..<3 { #expect(fixture.update([1]).isQueued) }
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.central, count: 3)).isEmpty)
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.other, count: 2)).isEmpty)
        #expect(
            fixture.machine.handle(.notifyCredits(central: Fixture.other, count: 1)) == [.callback(.readyToUpdate)])
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.other, count: 1)).isEmpty)
    }

    @Test func S137_oneChunkForEachCallNeverStallsWhateverAnotherCentralDoes() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(credits: 1)
        _ = fixture.subscribe(Fixture.other, credits: 1)
        #expect(fixture.update([0], to: [Fixture.other]).isQueued)
        for _ in 0..<100 {
            #expect(fixture.update([1], to: [Fixture.central]).isQueued)
            #expect(
                fixture.machine.handle(.notifyCredits(central: Fixture.central, count: 1))
                    == [.callback(.readyToUpdate)])
        }
        #expect(
            fixture.unsubscribe(Fixture.other).callbacks == [
                .unsubscribed(Fixture.other, fixture.id()), .readyToUpdate,
            ])
    }

    @Test func S137_whereBurstsAreNotAnnouncedOnlyARefusalIsFollowedByReady() {
        var fixture = Fixture.published()
        fixture.machine.announcesSentBursts = false
        _ = fixture.subscribe(credits: 1)
        #expect(fixture.update([1]).isQueued)
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.central, count: 1)).isEmpty)
        #expect(fixture.update([1]).isQueued)
        #expect(!fixture.update([2]).isQueued)
        #expect(
            fixture.machine.handle(.notifyCredits(central: Fixture.central, count: 1)) == [.callback(.readyToUpdate)])
    }

    @Test func S137_theDepartureOfAFullCentralMakesSpace() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(credits: 0)
        _ = fixture.subscribe(Fixture.other, credits: 1)
        #expect(!fixture.update([1]).isQueued)
        #expect(fixture.unsubscribe().callbacks == [.unsubscribed(Fixture.central, fixture.id()), .readyToUpdate])
        #expect(fixture.update([1]).isQueued)
    }

    @Test func S137_theRemovalOfTheServiceMakesSpaceOnTheQueue() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(credits: 0)
        #expect(!fixture.update([1]).isQueued)
        let id = fixture.id(100)
        let effects = fixture.machine.remove(ObjectKey(rawValue: 100))
        #expect(effects.callbacks.isEmpty)
        #expect(fixture.machine.handle(effects.completions[0]) == [.forget(id), .callback(.readyToUpdate)])
    }

    @Test func creditsEndWithTheLastSubscription() {
        var fixture = Fixture.poweredOn()
        fixture.publish(Fixture.service(characteristics: [Fixture.characteristic(1), Fixture.characteristic(2)]))
        _ = fixture.subscribe(key: 1, credits: 1)
        _ = fixture.subscribe(key: 2, credits: 0)
        _ = fixture.unsubscribe(key: 1)
        #expect(fixture.update([1], key: 2).isQueued)
        _ = fixture.unsubscribe(key: 2)
        #expect(fixture.machine.handle(.notifyCredits(central: Fixture.central, count: 5)).isEmpty)
        _ = fixture.subscribe(key: 2, credits: 1)
        #expect(fixture.update([1], key: 2).isQueued)
        #expect(!fixture.update([1], key: 2).isQueued)
    }

    @Test func S138_nilMeansAllAndWhoDoesNotSubscribeIsSkipped() {
        var fixture = Fixture.published()
        _ = fixture.subscribe()
        #expect(updates(fixture.update([1]).effects).map(\.centrals) == [[Fixture.central]])
        #expect(
            updates(fixture.update([1], to: [Fixture.central, Fixture.other]).effects).map(\.centrals)
                == [[Fixture.central]])
        let toStrangers = fixture.update([1], to: [Fixture.other])
        #expect(toStrangers.isQueued)
        #expect(toStrangers.effects.isEmpty)
        #expect(fixture.update([1], to: []).isQueued)
    }

    @Test func S138_withoutSubscribersNothingIsSentAndTheAnswerIsTrue() {
        var fixture = Fixture.published()
        let result = fixture.update([1])
        #expect(result.isQueued)
        #expect(result.effects.isEmpty)
    }

    @Test func aCharacteristicThatIsNotPublishedIsNotUpdated() {
        var fixture = Fixture.published()
        let unknown = fixture.update([1], key: 7)
        #expect(!unknown.isQueued)
        #expect(unknown.effects == [.misuse(.notPublished("FFF1"))])
        #expect(fixture.update([1], key: 100).effects == [.misuse(.notPublished("FFF1"))])
    }

    @Test func S139_aLongValueIsCutForEachCentral() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(mtu: 23)
        _ = fixture.subscribe(Fixture.other, mtu: 185)
        let value = (0..<30).map { UInt8($0) }
        let sent = updates(fixture.update(value).effects)
        #expect(sent.map(\.value) == [Array(value.prefix(20)), value])
        #expect(sent.map(\.centrals) == [[Fixture.central], [Fixture.other]])
        let short = updates(fixture.update([1]).effects)
        #expect(short.map(\.centrals) == [[Fixture.central, Fixture.other]])
    }

    @Test func S139_noValueIsLongerThan512Bytes() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(mtu: 517)
        #expect(updates(fixture.update(Array(repeating: 1, count: 600)).effects).map(\.value.count) == [512])
    }

    @Test func S140_theRoomGrowsWithTheMTU() {
        var fixture = Fixture.published()
        _ = fixture.subscribe(mtu: 23)
        #expect(
            fixture.machine.handle(.mtuChanged(central: Fixture.central, mtu: 100)) == [
                .changeMTU(Fixture.central, 100)
            ])
        #expect(updates(fixture.update(Array(repeating: 1, count: 99)).effects).map(\.value.count) == [97])
    }

    @Test func S140_theLatencyIsAHintWithoutCallback() {
        let fixture = Fixture.poweredOn()
        #expect(
            fixture.machine.setConnectionLatency(.high, of: Fixture.central)
                == [.submit(.setConnectionLatency(central: Fixture.central, latency: .high))])
    }

    @Test func aSubscriptionToWhatIsGoneIsIgnored() {
        var fixture = Fixture.published()
        let id = fixture.id()
        _ = fixture.machine.remove(ObjectKey(rawValue: 100))
        #expect(
            fixture.machine.handle(.subscribed(central: Fixture.central, attribute: id, mtu: 23, notifyCredits: 1))
                .isEmpty)
    }
}
