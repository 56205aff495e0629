import BluetoothSupport
import Testing

@testable import BluetoothBackend

/// A table with a limit.
struct LRUCacheTests {
    @Test func theEntryWhoseUseIsLongestAgoFallsOut() {
        var cache = LRUCache<Int, String>(limit: 2)
        #expect(cache.insert("a", for: 1) == nil)
        #expect(cache.insert("b", for: 2) == nil)
        #expect(cache.use(1) { $0 += "!" } != nil)
        let evicted = cache.insert("c", for: 3)
        #expect(evicted?.key == 2 && evicted?.value == "b")
        #expect(cache.keys == [1, 3])
        #expect(cache[1] == "a!" && cache[2] == nil)
    }

    @Test func toLookAtAValueIsNoUseOfIt() {
        var cache = LRUCache<Int, Int>(limit: 2)
        cache.insert(1, for: 1)
        cache.insert(2, for: 2)
        #expect(cache[1] == 1)
        #expect(cache.insert(3, for: 3)?.key == 1)
    }

    @Test func aSmallerLimitEvictsAndALimitIsAtLeastOne() {
        var cache = LRUCache<Int, Int>(limit: 4)
        for key in 1...4 { cache.insert(key, for: key) }
        #expect(cache.changeLimit(to: 0).map(\.key) == [1, 2, 3])
        #expect(cache.limit == 1 && cache.keys == [4])
    }

    /// Compares the cache with a list in the order of use, over many steps from a seed.
    @Test(arguments: [1, 2, 7, 64]) func aRandomProgramNeverExceedsTheLimit(limit: Int) {
        var cache = LRUCache<UInt64, Int>(limit: limit)
        var model: [(key: UInt64, value: Int)] = []
        var random = SeededGenerator(seed: UInt64(limit))
        for step in 0..<4_000 {
            let key = random.next() % UInt64(3 * limit)
            let index = model.firstIndex { $0.key == key }
            switch random.next() % 4 {
            case 0:
                #expect(cache.remove(key) == index.map { model.remove(at: $0).value })
            case 1:
                let used = cache.use(key) { $0 + 0 }
                #expect(used == index.map { model[$0].value })
                if let index { model.append(model.remove(at: index)) }
            default:
                let evicted = cache.insert(step, for: key)
                if let index { model.remove(at: index) }
                let expected = model.count == limit ? model.removeFirst() : nil
                #expect(evicted?.key == expected?.key && evicted?.value == expected?.value)
                model.append((key, step))
            }
            #expect(cache.count <= limit)
            guard cache.keys == model.map(\.key) else {
                Issue.record("limit \(limit), step \(step): \(cache.keys), not \(model)")
                return
            }
        }
    }
}
