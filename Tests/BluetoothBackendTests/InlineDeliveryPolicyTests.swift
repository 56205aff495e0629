#if os(Linux)
import Testing

@testable import BluetoothSupport

@Suite struct InlineDeliveryPolicyTests {
    private let start = ContinuousClock.now
    private let short = InlineDeliveryPolicy.shortWork
    private let pauses = InlineDeliveryPolicy.pauses

    @Test func workRunsInlineHoweverRareEventsAre() {
        var policy = InlineDeliveryPolicy()
        for second in 0..<5 {
            #expect(policy.allowsInlineWork(at: start + .seconds(second)))
            policy.workTook(short, until: start + .seconds(second) + short)
        }
    }

    @Test func longWorkSuspendsInlineWorkForAPause() {
        var policy = InlineDeliveryPolicy()
        policy.workTook(short + .nanoseconds(1), until: start)
        #expect(!policy.allowsInlineWork(at: start + pauses.lowerBound - .nanoseconds(1)))
        #expect(policy.allowsInlineWork(at: start + pauses.lowerBound))
    }

    @Test func thePauseDoublesWithEachLongWorkAndShortWorkEndsThat() {
        var policy = InlineDeliveryPolicy()
        var end = start
        /// The pause after one more long work.
        func pause() -> Duration {
            policy.workTook(.seconds(1), until: end)
            var pause = pauses.lowerBound
            while !policy.allowsInlineWork(at: end + pause) { pause = min(pause * 2, pauses.upperBound) }
            end += pause
            return pause
        }
        #expect((0..<9).map { _ in pause() } == [1, 2, 4, 8, 16, 32, 64, 100, 100].map { .milliseconds(100) * $0 })
        policy.workTook(short, until: end)
        #expect(pause() == pauses.lowerBound)
    }
}
#endif
