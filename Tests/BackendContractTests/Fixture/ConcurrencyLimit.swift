import BluetoothSupport
import Testing

/// Limits the number of concurrent tests with this trait; the others wait.
///
/// It is for tests that need descriptors and processes, because Swift Testing starts all cases of a test at once.
struct ConcurrencyLimit: TestTrait, TestScoping {
    /// The limit for private buses: each needs about a dozen descriptors, and a process often may have only 1,024.
    static let privateBuses = Self(16)

    private let slots: Slots

    init(_ count: Int) { slots = Slots(count) }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await slots.acquire()
        defer { slots.release() }
        try await function()
    }
}

extension Trait where Self == ConcurrencyLimit {
    /// Limits tests with private buses to sixteen at a time, across suites.
    static var limitedPrivateBuses: Self { .privateBuses }
}

/// A number of slots, which tasks get in the order of their requests.
private final class Slots: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Lock<State>

    init(_ count: Int) { state = Lock(State(free: count)) }

    func acquire() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state -> Bool in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
