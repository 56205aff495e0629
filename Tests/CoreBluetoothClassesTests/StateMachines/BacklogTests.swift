import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

/// The elements that wait for a slow queue.
@Suite struct BacklogTests {
    private enum Element: BacklogElement, Equatable {
        case answer(Int)
        case ended(Int)
        case report(Int, version: Int)
        case value(link: Int, Int)
        case command(central: Int, Int)
        case end(Int)
        case change(Int, version: Int, mayBeLost: Bool = false)

        var backlogKind: BacklogKind {
            switch self {
            case .answer, .ended, .end: .kept
            case .report(let peer, _): .report(of: BacklogTests.peer(peer))
            case .value(let link, _): .value(from: .link(LinkID(rawValue: UInt64(link))))
            case .command(let central, _): .value(from: .central(BacklogTests.peer(central)))
            case .change(_, _, let mayBeLost): .change(mayBeLost: mayBeLost)
            }
        }

        var endedLink: LinkID? {
            if case .ended(let link) = self { LinkID(rawValue: UInt64(link)) } else { nil }
        }

        static func end(_ link: LinkID) -> Element? { .end(Int(link.rawValue)) }

        /// Keeps the last change of each number.
        static func merged(_ changes: [Element]) -> [Element?] {
            var seen: Set<Int> = []
            return changes.reversed().map { element in
                guard case .change(let number, _, _) = element else { return element }
                return seen.insert(number).inserted ? element : nil
            }.reversed()
        }
    }

    private static func peer(_ number: Int) -> PeerID {
        let (high, low) = (UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF))
        return PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number >> 16), high, low)))
    }

    private func backlog(
        _ limit: Int, _ overflow: CBManagerLimits.NotificationOverflow = .dropOldest
    ) -> Backlog<Element> {
        Backlog(limits: CBManagerLimits(undeliveredEvents: limit, notificationOverflow: overflow))
    }

    private func add(_ element: Element, to backlog: inout Backlog<Element>) -> Bool { backlog.append(element) }

    private func drained(_ backlog: inout Backlog<Element>) -> [Element] {
        var elements: [Element] = []
        while let element = backlog.popFirst() { elements.append(element) }
        return elements
    }

    @Test func belowTheLimitNothingIsMergedOrDropped() {
        var backlog = backlog(4)
        let elements: [Element] = [
            .report(1, version: 1), .report(1, version: 2), .answer(1), .report(1, version: 3), .report(1, version: 4),
            .value(link: 1, 1), .value(link: 1, 2), .value(link: 1, 3), .value(link: 1, 4),
        ]
        for element in elements { #expect(!add(element, to: &backlog)) }
        #expect(drained(&backlog) == elements)
        #expect(backlog.dropped == CBDroppedEvents())
    }

    @Test func atTheLimitTheNewestReportOfADeviceTakesThePlaceOfItsFirst() {
        var backlog = backlog(4)
        for element in [
            Element.report(1, version: 1), .answer(1), .report(2, version: 1), .report(1, version: 2), .answer(2),
            .report(1, version: 3),
        ] { #expect(!add(element, to: &backlog)) }
        #expect(add(.report(2, version: 2), to: &backlog), "an episode begins")
        #expect(backlog.dropped.mergedScanReports == 3 && backlog.dropped.scanReports == 0)
        #expect(
            drained(&backlog) == [.report(1, version: 3), .answer(1), .report(2, version: 2), .answer(2)])
    }

    @Test func reportsOfTooManyDevicesLoseTheOldest() {
        var backlog = backlog(4)
        for peer in 1...5 { _ = backlog.append(.report(peer, version: 1)) }
        #expect(backlog.dropped.scanReports == 1)
        #expect(drained(&backlog) == (2...5).map { .report($0, version: 1) })
    }

    @Test func theOldestValuesOfTheBusiestLinkAreDroppedInOrder() {
        var backlog = backlog(4)
        for element in [
            Element.value(link: 1, 1), .value(link: 2, 1), .answer(1), .value(link: 2, 2), .value(link: 2, 3),
            .answer(2),
        ] { #expect(!add(element, to: &backlog)) }
        #expect(add(.value(link: 1, 2), to: &backlog))
        #expect(backlog.dropped.notifications == 1)
        #expect(
            drained(&backlog) == [
                .value(link: 1, 1), .answer(1), .value(link: 2, 2), .value(link: 2, 3), .answer(2), .value(link: 1, 2),
            ])
    }

    @Test func writeCommandsOfACentralAreDroppedLikewise() {
        var backlog = backlog(2)
        for number in 1...3 { _ = backlog.append(.command(central: 1, number)) }
        #expect(backlog.dropped.writeCommands == 1)
        #expect(drained(&backlog) == [.command(central: 1, 2), .command(central: 1, 3)])
    }

    @Test func aLinkIsEndedInPlaceOfItsValuesWhereThatIsWanted() {
        var backlog = backlog(3, .disconnect)
        for element in [
            Element.answer(1), .value(link: 1, 1), .value(link: 2, 1), .value(link: 1, 2), .value(link: 1, 3),
        ] { _ = backlog.append(element) }
        #expect(!add(.value(link: 1, 4), to: &backlog), "its values are dropped until the link is down")
        #expect(backlog.dropped.notifications == 4)
        _ = backlog.append(.ended(1))
        #expect(drained(&backlog) == [.answer(1), .end(1), .value(link: 2, 1), .ended(1)])
    }

    @Test func atTheLimitChangesAreMergedAndAllElseKeepsItsPlace() {
        var backlog = backlog(3)
        let elements: [Element] = [
            .change(1, version: 1), .answer(1), .change(2, version: 1), .change(1, version: 2), .answer(2),
        ]
        for element in elements { #expect(!add(element, to: &backlog)) }
        #expect(add(.change(1, version: 3), to: &backlog), "an episode begins")
        #expect(backlog.dropped.mergedChanges == 2 && backlog.dropped.changes == 0)
        #expect(drained(&backlog) == [.answer(1), .change(2, version: 1), .answer(2), .change(1, version: 3)])
    }

    @Test func changesOfTooManyLoseTheOldestOfThoseThatMayBeLost() {
        var backlog = backlog(4)
        _ = backlog.append(.change(0, version: 1))
        for number in 1...5 { _ = backlog.append(.change(number, version: 1, mayBeLost: true)) }
        #expect(backlog.dropped.changes == 2)
        #expect(
            drained(&backlog) == [.change(0, version: 1)] + (3...5).map { .change($0, version: 1, mayBeLost: true) })
    }

    /// Appending thus takes constant time on average, whatever is left.
    @Test func changesThatMayNotBeLostAreMergedAgainWhenThereIsTwiceAsMuch() {
        var backlog = backlog(4)
        for round in 1...100 {
            for number in 1...50 { _ = backlog.append(.change(number, version: round)) }
            #expect(backlog.count <= 100)
        }
        while backlog.count > 50 { _ = backlog.popFirst() }
        #expect(drained(&backlog).count == 50)
    }

    @Test func anEpisodeEndsWhenHalfIsTaken() {
        var backlog = backlog(4)
        for number in 1...4 { #expect(!add(.value(link: 1, number), to: &backlog)) }
        #expect(add(.value(link: 1, 5), to: &backlog))
        #expect(!add(.value(link: 1, 6), to: &backlog), "it is reported once")
        _ = (backlog.popFirst(), backlog.popFirst())
        for number in 7...8 { #expect(!add(.value(link: 1, number), to: &backlog)) }
        #expect(add(.value(link: 1, 9), to: &backlog), "it is another episode")
    }

    /// Random events of every kind, from a seed.
    @Test(arguments: [1, 8, 100]) func aFloodNeverExceedsTheLimits(limit: Int) {
        for overflow in [CBManagerLimits.NotificationOverflow.dropOldest, .disconnect] {
            var backlog = backlog(limit, overflow)
            var random = Seeded(state: UInt64(limit))
            var kept = 0
            for step in 0..<4_000 {
                switch random.next() % 4 {
                case 0: _ = backlog.append(.report(Int(random.next() % 1000), version: step))
                case 1: _ = backlog.append(.value(link: Int(random.next() % 5), step))
                case 2: _ = backlog.append(.command(central: Int(random.next() % 5), step))
                default: if step % 100 == 0 { (_, kept) = (backlog.append(.answer(step)), kept + 1) }
                }
                let ends = overflow == .disconnect ? 5 : 0
                #expect(backlog.count <= 2 * limit + kept + ends)
            }
            let elements = drained(&backlog)
            #expect(elements.filter { if case .answer = $0 { true } else { false } }.count == kept)
            let values = elements.compactMap { if case .value(_, let step) = $0 { step } else { nil } }
            #expect(values == values.sorted(), "limit \(limit)")
        }
    }

    private struct Seeded {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }
}
