#if os(Linux)
import Testing

@testable import BluetoothDBus

@Suite struct InlineDeliveryPolicyTests {
    private let start = ContinuousClock.now

    @Test func rareEventsLeadToNoInlineWork() {
        var pace = InlineDeliveryPolicy()
        let allowed = (0..<5).map { pace.allowsInlineWork(at: start + .seconds($0)) }
        #expect(!allowed.contains(true))
    }

    @Test func denseEventsAllowInlineWorkFromTheSecondOn() {
        var pace = InlineDeliveryPolicy()
        let allowed = (0..<5).map { pace.allowsInlineWork(at: start + InlineDeliveryPolicy.denseInterval * $0) }
        #expect(allowed == [false, true, true, true, true])
        let late = pace.allowsInlineWork(at: start + .seconds(1))
        #expect(!late)
    }

    @Test func longWorkSuspendsInlineWorkForAWhile() {
        func allowed(after duration: Duration, at delay: Duration) -> Bool {
            var pace = InlineDeliveryPolicy()
            pace.workTook(duration, until: start)
            _ = pace.allowsInlineWork(at: start + delay)
            return pace.allowsInlineWork(at: start + delay)
        }
        #expect(allowed(after: InlineDeliveryPolicy.shortWork, at: .zero))
        #expect(!allowed(after: InlineDeliveryPolicy.shortWork + .nanoseconds(1), at: .zero))
        #expect(!allowed(after: .seconds(1), at: InlineDeliveryPolicy.rest - .nanoseconds(1)))
        #expect(allowed(after: .seconds(1), at: InlineDeliveryPolicy.rest))
    }
}
#endif
