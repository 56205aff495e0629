import GatewayCore
import Testing

@Suite struct RateLimitTests {
    private let start = ContinuousClock.now

    @Test func aBurstIsAdmittedAndThenOneInEachInterval() {
        var limit = RateLimit(burst: 3, interval: .seconds(1))
        func admitted(_ milliseconds: Int) -> Bool { limit.admits(at: start + .milliseconds(milliseconds)) }
        #expect([0, 0, 0, 0, 999].map(admitted) == [true, true, true, false, false])
        #expect([1_000, 1_001, 1_999, 2_000].map(admitted) == [true, false, false, true])
        // After a rest, it permits another burst, and no more.
        #expect([60_000, 60_000, 60_000, 60_000].map(admitted) == [true, true, true, false])
    }

    @Test func aLineIsWrittenOnceInAPeriodWithTheNumberOfThoseThatWereNot() {
        var log = PeriodicLog()
        #expect(log.omitted("a", at: start) == 0)
        #expect(log.omitted("a", at: start + .seconds(1)) == nil)
        #expect(log.omitted("a", at: start + .seconds(9)) == nil)
        #expect(log.omitted("b", at: start + .seconds(9)) == 0)
        #expect(log.omitted("a", at: start + PeriodicLog.period) == 2)
        #expect(log.omitted("a", at: start + PeriodicLog.period * 2) == 0)
    }
}
