import BluetoothBackend
import BluetoothInstrumentation
import FoundationEssentials
import Testing

/// The commands and events that a plan affects.
struct FaultTriggerTests {
    private let reads = FaultPlace(.centralCommand(.read))

    /// Returns the numbers of the reads that reach the backend while a fault drops others.
    private func passing(_ count: Int, seed: UInt64 = 1, _ trigger: FaultTrigger) throws -> [Int] {
        let fixture = try FaultFixture(seed: seed, Fault(reads, trigger, .drop))
        return (1...count).filter { number in
            fixture.central.submit(fixture.read(UInt64(number + 100)))
            return !fixture.submitted().isEmpty
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
        let fixture = try FaultFixture(Fault(reads, .after(time: .seconds(5)), .drop))
        let passed = (1...4).filter { number in
            fixture.base.testClock.advance(by: .seconds(2))
            fixture.central.submit(fixture.read(UInt64(number + 100)))
            return !fixture.submitted().isEmpty
        }
        #expect(passed == [1, 2])
    }

    @Test func aCharacteristicIsKnownByItsDiscovery() throws {
        let fixture = try FaultFixture(
            Fault(
                FaultPlace(.centralCommand(.read), characteristic: "2A37"), .rate(probability: 1),
                .error(Samples.error)),
            Fault(
                FaultPlace(.centralEvent(.valueRead), characteristic: "2A38"), .rate(probability: 1),
                .error(Samples.error)))
        let other = fixture.attribute.next
        fixture.base.central.role.deliver(
            .response(
                link: fixture.link, operation: fixture.operation(9),
                .characteristics([CharacteristicRecord(id: other, uuid: "2A38", properties: [.read])])))
        _ = fixture.takeEvents()
        fixture.central.submit(fixture.read(10))
        fixture.central.submit(fixture.read(11, of: other))
        fixture.central.submit(fixture.read(12, of: other.next))
        #expect(fixture.submitted() == [fixture.read(11, of: other), fixture.read(12, of: other.next)])
        fixture.base.central.role.deliver(fixture.value(11), fixture.value(12))
        #expect(fixture.takeEvents() == [fixture.failure(10), fixture.failure(11), fixture.value(12)])
    }

    @Test func aPeerIsKnownByItsLink() throws {
        let fixture = try FaultFixture(
            Fault(FaultPlace(.centralEvent(.valueNotified), peer: Samples.otherPeer), .once, .drop))
        fixture.base.central.role.deliver(fixture.notification(1))
        #expect(fixture.takeEvents() == [fixture.notification(1)])
        let link = LinkID(rawValue: 4)
        let parameters = LinkParameters(mtu: 23, writeCredits: 1)
        fixture.base.central.role.deliver(
            .connected(peer: Samples.otherPeer, link: link, operation: fixture.operation(20), parameters: parameters),
            .valueNotified(link: link, attribute: fixture.attribute, value: Data()))
        #expect(fixture.takeEvents().map(\.kind) == [.connected])
    }

    @Test func ofSeveralFaultsTheFirstThatIsDueTakesEffectAndAllCount() throws {
        let fixture = try FaultFixture(
            Fault(reads, .nth(number: 2), .error(Samples.error)), Fault(reads, .nth(number: 2), .drop),
            Fault(reads, .nth(number: 3), .drop))
        for number in 10...12 { fixture.central.submit(fixture.read(UInt64(number))) }
        #expect(fixture.submitted() == [fixture.read(10)])
        fixture.base.central.role.deliver(fixture.value(10))
        #expect(fixture.takeEvents() == [fixture.value(10), fixture.failure(11)])
    }

    @Test func eachManagerCountsForItself() throws {
        let base = TestBackend()
        let backend = try FaultInjectingBackend(around: base, plan: FaultPlan(faults: [Fault(reads, .once, .drop)]))
        for _ in 0..<2 {
            let central = backend.makeCentral(RoleOptions())
            central.submit(.request(link: Samples.link, operation: Samples.operation, .read(Samples.attribute)))
            #expect(base.central.role.takeCommands().isEmpty)
        }
    }

    @Test func aManagerIsKnownByItsNumberAmongThoseOfItsRole() throws {
        let base = TestBackend()
        let place = FaultPlace(.centralCommand(.read), manager: 2)
        let backend = try FaultInjectingBackend(around: base, plan: FaultPlan(faults: [Fault(place, .once, .drop)]))
        _ = backend.makePeripheral(RoleOptions())
        let passed = (1...3).filter { _ in
            let central = backend.makeCentral(RoleOptions())
            central.submit(.request(link: Samples.link, operation: Samples.operation, .read(Samples.attribute)))
            return !base.central.role.takeCommands().isEmpty
        }
        #expect(passed == [1, 3])
    }
}
