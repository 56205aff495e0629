import Testing

@testable import BluetoothEmulator

/// The points of virtual time of Dispatch's deadlines.
@Suite struct DispatchDeadlinesTests {
    private static let wall = UInt64(bitPattern: -1_700_000_000_000_000_000)

    @Test func aReadingHasItsPoint() {
        var deadlines = DispatchDeadlines()
        #expect(deadlines.point(of: 500) == nil)
        deadlines.read(500, at: .seconds(7))
        #expect(deadlines.point(of: 500) == .seconds(7))
    }

    @Test func aSumKeepsTheReadingFromWhichItWasComputed() {
        var deadlines = DispatchDeadlines()
        deadlines.read(500, at: .seconds(7))
        deadlines.add(.seconds(5), to: 500, giving: 5_000_000_500)
        deadlines.add(.seconds(-2), to: 5_000_000_500, giving: 3_000_000_500)
        deadlines.read(900, at: .seconds(60))
        #expect(deadlines.point(of: 5_000_000_500) == .seconds(12))
        #expect(deadlines.point(of: 3_000_000_500) == .seconds(10))
    }

    @Test func anUnknownValueIsCountedFromTheLastReadingOfItsClock() {
        var deadlines = DispatchDeadlines()
        deadlines.read(500, at: .seconds(7))
        deadlines.read(900, at: .seconds(60))
        deadlines.add(.seconds(1), to: 12, giving: 1_000_000_012)
        #expect(deadlines.point(of: 1000) == .seconds(60) + .nanoseconds(100))
        #expect(deadlines.point(of: 1_000_000_012) == .seconds(61) - .nanoseconds(888))
        #expect(deadlines.point(of: Self.wall) == nil)
        deadlines.read(Self.wall, at: .seconds(80))
        // Later values of the wall clock are lower.
        #expect(deadlines.point(of: Self.wall - 3_000_000_000) == .seconds(83))
        #expect(deadlines.point(of: 1000) == .seconds(60) + .nanoseconds(100))
    }

    @Test func theDistantFutureHasNoPoint() {
        var deadlines = DispatchDeadlines()
        deadlines.read(500, at: .zero)
        deadlines.read(Self.wall, at: .zero)
        deadlines.add(.seconds(1), to: 500, giving: .max)
        #expect(deadlines.point(of: .max) == nil)
        #expect(deadlines.point(of: 1 << 63) == nil)
    }

    @Test func theOldestValuesAreForgotten() {
        var deadlines = DispatchDeadlines()
        for value in 0...UInt64(DispatchDeadlines.limit) { deadlines.read(value, at: .seconds(value)) }
        #expect(deadlines.point(of: 1) == .seconds(1))
        // Counted from the last reading.
        let last = DispatchDeadlines.limit
        #expect(deadlines.point(of: 0) == .seconds(last) - .nanoseconds(last))
    }
}
