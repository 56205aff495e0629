#if os(Linux)
import Testing

@testable import BluetoothDBus

@Suite struct ErrandPaceTests {
    private let start = ContinuousClock.now

    @Test func rareEventsLeadToNoErrands() {
        var pace = ErrandPace()
        let allowed = (0..<5).map { pace.allowsErrand(at: start + .seconds($0)) }
        #expect(!allowed.contains(true))
    }

    @Test func denseEventsLeadToErrandsFromTheSecondOn() {
        var pace = ErrandPace()
        let allowed = (0..<5).map { pace.allowsErrand(at: start + ErrandPace.denseInterval * $0) }
        #expect(allowed == [false, true, true, true, true])
        let late = pace.allowsErrand(at: start + .seconds(1))
        #expect(!late)
    }

    @Test func aLongErrandIsFollowedByNoneForAWhile() {
        func allowed(after duration: Duration, at delay: Duration) -> Bool {
            var pace = ErrandPace()
            pace.errandTook(duration, until: start)
            _ = pace.allowsErrand(at: start + delay)
            return pace.allowsErrand(at: start + delay)
        }
        #expect(allowed(after: ErrandPace.shortErrand, at: .zero))
        #expect(!allowed(after: ErrandPace.shortErrand + .nanoseconds(1), at: .zero))
        #expect(!allowed(after: .seconds(1), at: ErrandPace.rest - .nanoseconds(1)))
        #expect(allowed(after: .seconds(1), at: ErrandPace.rest))
    }
}
#endif
