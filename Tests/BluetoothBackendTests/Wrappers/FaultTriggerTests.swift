import BluetoothBackend
import FoundationEssentials
import Testing

/// Which commands and events a plan hits.
struct FaultTriggerTests {
    private let reads = FaultPlace(.centralCommand(.read))

    /// Which of so many reads reach the radio while a fault drops others.
    private func passing(_ count: Int, seed: UInt64 = 1, _ trigger: FaultTrigger) throws -> [Int] {
        let stage = try FaultStage(seed: seed, Fault(reads, trigger, .drop))
        return (1...count).filter { number in
            stage.central.submit(stage.read(UInt64(number + 100)))
            return !stage.submitted().isEmpty
        }
    }

    @Test func onceIsTheFirst() throws {
        #expect(try passing(4, .once) == [2, 3, 4])
    }

    @Test func nthIsThatOneAlone() throws {
        #expect(try passing(4, .nth(number: 3)) == [1, 2, 4])
    }

    @Test func aRateIsAChanceThatTheSeedDecides() throws {
        let passed = try passing(1000, seed: 3, .rate(probability: 0.25))
        #expect((700..<800).contains(passed.count))
        #expect(try passing(1000, seed: 3, .rate(probability: 0.25)) == passed)
        #expect(try passing(1000, seed: 4, .rate(probability: 0.25)) != passed)
        #expect(try passing(10, .rate(probability: 0)).count == 10)
        #expect(try passing(10, .rate(probability: 1)).isEmpty)
    }

    @Test func afterIsEachFromThatTimeOn() throws {
        let stage = try FaultStage(Fault(reads, .after(time: .seconds(5)), .drop))
        let passed = (1...4).filter { number in
            stage.radio.testClock.advance(by: .seconds(2))
            stage.central.submit(stage.read(UInt64(number + 100)))
            return !stage.submitted().isEmpty
        }
        #expect(passed == [1, 2])
    }

    @Test func aCharacteristicIsKnownByItsDiscovery() throws {
        let stage = try FaultStage(
            Fault(
                FaultPlace(.centralCommand(.read), characteristic: "2A37"), .rate(probability: 1),
                .error(Samples.error)),
            Fault(
                FaultPlace(.centralEvent(.valueRead), characteristic: "2A38"), .rate(probability: 1),
                .error(Samples.error)))
        let other = stage.attribute.next
        stage.radio.central.role.tell(
            .characteristicsDiscovered(
                link: stage.link, operation: stage.operation(9),
                characteristics: [CharacteristicRecord(id: other, uuid: "2A38", properties: [.read])]))
        _ = stage.told()
        stage.central.submit(stage.read(10))
        stage.central.submit(stage.read(11, of: other))
        stage.central.submit(stage.read(12, of: other.next))
        #expect(stage.submitted() == [stage.read(11, of: other), stage.read(12, of: other.next)])
        stage.radio.central.role.tell(stage.value(11), stage.value(12))
        #expect(stage.told() == [stage.failure(10), stage.failure(11), stage.value(12)])
    }

    @Test func aPeerIsKnownByItsLink() throws {
        let stage = try FaultStage(
            Fault(FaultPlace(.centralEvent(.valueNotified), peer: Samples.otherPeer), .once, .drop))
        stage.radio.central.role.tell(stage.notification(1))
        #expect(stage.told() == [stage.notification(1)])
        let link = LinkID(rawValue: 4)
        let parameters = LinkParameters(mtu: 23, writeCredits: 1)
        stage.radio.central.role.tell(
            .connected(peer: Samples.otherPeer, link: link, operation: stage.operation(20), parameters: parameters),
            .valueNotified(link: link, attribute: stage.attribute, value: Data()))
        #expect(stage.told().map(\.kind) == [.connected])
    }

    @Test func ofSeveralFaultsTheFirstThatIsDueTakesEffectAndAllCount() throws {
        let stage = try FaultStage(
            Fault(reads, .nth(number: 2), .error(Samples.error)), Fault(reads, .nth(number: 2), .drop),
            Fault(reads, .nth(number: 3), .drop))
        for number in 10...12 { stage.central.submit(stage.read(UInt64(number))) }
        #expect(stage.submitted() == [stage.read(10)])
        stage.radio.central.role.tell(stage.value(10))
        #expect(stage.told() == [stage.value(10), stage.failure(11)])
    }

    @Test func eachManagerCountsForItself() throws {
        let radio = TestRadio()
        let backend = try FaultInjectingBackend(around: radio, plan: FaultPlan(faults: [Fault(reads, .once, .drop)]))
        for _ in 0..<2 {
            let central = backend.makeCentral(CentralOptions())
            central.submit(.read(link: Samples.link, operation: Samples.operation, attribute: Samples.attribute))
            #expect(radio.central.role.take().isEmpty)
        }
    }
}
