import BluetoothBackend
import BluetoothSupport
import Foundation
import Testing

@testable import BluetoothEmulator

@Suite struct EventQueueTests {
    private typealias Queue = EventQueue<Int, String>

    private func drain(_ queue: inout Queue, until limit: Nanoseconds) -> [String] {
        var work: [String] = []
        while let next = queue.next(until: limit) {
            switch next {
            case .event(let event): work.append("\(event)@\(queue.now)")
            case .input(let input): work.append("\(input)@\(queue.now)")
            }
        }
        return work
    }

    @Test func eventsComeByInstantAndThenByOrder() {
        var queue = Queue()
        queue.schedule(1, at: 20)
        queue.schedule(2, at: 10)
        queue.schedule(3, at: 20)
        queue.enqueue("a")
        queue.schedule(4, at: 0)
        let work = drain(&queue, until: 20)
        #expect(work == ["a@0", "4@0", "2@10", "1@20", "3@20"])
    }

    @Test func anEventOfTheHeapComesBeforeALaterInputOfTheSameInstant() {
        var queue = Queue()
        queue.schedule(1, at: 10)
        queue.schedule(2, at: 10)
        guard case .event(1)? = queue.next(until: 10) else { Issue.record("not the first"); return }
        queue.enqueue("a")
        let work = drain(&queue, until: 10)
        #expect(work == ["2@10", "a@10"])
    }

    @Test func theTimeMovesToTheLimitAndNeverBack() {
        var queue = Queue()
        _ = drain(&queue, until: 50)
        #expect(queue.now == 50)
        _ = drain(&queue, until: 10)
        #expect(queue.now == 50)
        queue.schedule(1, at: 20)
        let work = drain(&queue, until: 50)
        #expect(work == ["1@50"])
    }

    @Test func whatIsCancelledDoesNotHappenNorKeepFromBeingIdle() {
        var queue = Queue()
        let token = queue.scheduleCancellable(1, at: 10)
        queue.schedule(2, at: 20, isPeriodic: true)
        #expect(!queue.isIdle)
        queue.cancel(token)
        #expect(queue.isIdle)
        let due = queue.nextDue
        #expect(due == 20)
        let work = drain(&queue, until: 30)
        #expect(work == ["2@20"])
    }
}

@Suite struct SlotTableTests {
    @Test func aReferenceIsBlindForASuccessor() {
        var table = SlotTable<String>()
        let first = table.insert("a")
        let second = table.insert("b")
        let removed = table.remove(first)
        #expect(removed == "a")
        let third = table.insert("c")
        #expect(third.slot == first.slot)
        #expect(table[first] == nil)
        let again = table.remove(first)
        #expect(again == nil)
        #expect(table.refs == [second, third])
        #expect(Ref<String>(packed: third.packed) == third)
        table[first]? = "x"
        #expect(table[third] == "c")
        #expect(table[Ref(slot: .max, serial: 0)] == nil)
    }

    @Test func aCopyKeepsWhatTheTableHadAndIsChangedAlone() {
        var table = SlotTable<String>()
        let refs = (0..<20).map { table.insert("\($0)") }
        let copy = table
        table[refs[3]]?.append("!")
        table.remove(refs[4])
        let reused = table.insert("new")
        #expect(table.insert("more") != reused)
        #expect(table[refs[3]] == "3!" && table[refs[4]] == nil && table[reused] == "new")
        #expect(refs.map { copy[$0] } == (0..<20).map { "\($0)" })
        #expect(copy[reused] == nil && copy.count == 20 && table.count == 21)
    }
}

@Suite struct SeededGeneratorTests {
    @Test func eachStreamIsItsOwnAndTheSameInEachProcess() {
        var generator = SeededGenerator(seed: 1, stream: "rssi")
        var same = SeededGenerator(seed: 1, stream: "rssi")
        var other = SeededGenerator(seed: 1, stream: "fault")
        let numbers = (0..<4).map { _ in generator.next() }
        let (equal, different) = ((0..<4).map { _ in same.next() }, (0..<4).map { _ in other.next() })
        #expect(numbers == equal)
        #expect(numbers != different)
        var fixed = SeededGenerator(seed: 0, stream: "")
        // SplitMix64 of the FNV-1a offset basis.
        let number = fixed.next()
        #expect(number == SeededGeneratorTests.first)
    }

    private static let first: UInt64 = {
        var mixed: UInt64 = 0xCBF2_9CE4_8422_2325 &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }()

    @Test func boundsAndChancesHold() {
        var generator = SeededGenerator(seed: 3, stream: "x")
        let numbers = (0..<1000).map { _ in generator.below(10) }
        #expect(Set(numbers) == Set(0..<10))
        let hits = (0..<10_000).count { _ in generator.happens(0.2) }
        #expect((1_800...2_200).contains(hits))
        let never = (0..<100).contains { _ in generator.happens(0) }
        #expect(!never)
    }
}

@Suite struct RoundTripTests {
    /// Core Specification, Vol 3, Part F, 3.4.4: entries of one size share a response.
    @Test func findingCountsResponsesAndTheLastError() {
        #expect(RoundTrips.finding(sizes: [], mtu: 23) == 1)
        #expect(RoundTrips.finding(sizes: [6, 6, 6], mtu: 23) == 2)
        #expect(RoundTrips.finding(sizes: [6, 6, 6, 6], mtu: 23) == 3)
        #expect(RoundTrips.finding(sizes: [6, 20, 6], mtu: 185) == 4)
    }

    @Test func valuesAreCutToTheMTU() {
        #expect(RoundTrips.readBlobs(count: 21, mtu: 23) == 0)
        // A full response may be followed by more.
        #expect(RoundTrips.readBlobs(count: 22, mtu: 23) == 1)
        #expect(RoundTrips.readBlobs(count: 512, mtu: 23) == 23)
        #expect(RoundTrips.writing(count: 20, mtu: 23) == 1)
        #expect(RoundTrips.writing(count: 21, mtu: 23) == 3)
        #expect(RoundTrips.writing(count: 512, mtu: 23) == 30)
    }
}

@Suite struct ConfigurationTests {
    @Test func instantRemovesLatencyAndKeepsPeriods() {
        let instant = EmulatorConfiguration.instant
        #expect([instant.stateDelay, instant.connectionDelay, instant.connectionInterval] == [.zero, .zero, .zero])
        #expect(instant.supervisionTimeout == .seconds(4))
        #expect(EmulatorConfiguration.slow.maximumMTU == 23)
        #expect(EmulatorConfiguration.unreliable.connectionFailureRate == 0.2)
    }
}
