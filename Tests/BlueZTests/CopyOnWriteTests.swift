#if os(Linux)
import Testing

@testable import BlueZ

@Suite struct CopyOnWriteTests {
    private struct Pair {
        var left = 1
        var right = [2]
    }

    @Test func aCopyKeepsWhatTheOriginalChanges() {
        var original = CopyOnWrite(Pair())
        let copy = original
        original.left = 10
        original.right.append(20)
        let later = original
        original.update { $0.left += 1 }
        #expect(original.left == 11 && original.right == [2, 20])
        #expect(later.left == 10)
        #expect(copy.left == 1 && copy.right == [2])
    }
}
#endif
