import BluetoothBackend
import BluetoothLocking
import Foundation
import Synchronization

/// What a device does each so often while somebody listens.
final class SubscriptionTimers: Sendable {
    private struct Job {
        let interval: @Sendable () -> Duration?
        let body: @Sendable () -> Void
        /// A call of another generation is stale.
        var generation = 0
        var timer: (any BackendTimer)?
    }

    private struct State {
        var jobs: [ObjectIdentifier: Job] = [:]
        var subscribers: [ObjectIdentifier: Set<UUID>] = [:]
    }

    private let clock: any BackendClock
    private let state = Lock(State())

    init(_ clock: any BackendClock) { self.clock = clock }

    func add(
        _ value: any ServedAttribute, interval: @escaping @Sendable () -> Duration?,
        _ body: @escaping @Sendable () -> Void
    ) {
        state.withLock { $0.jobs[ObjectIdentifier(value)] = Job(interval: interval, body: body) }
        restart(value)
    }

    /// Whether a value comes each so often while somebody subscribes, as things are now.
    func isPeriodic(_ value: any ServedAttribute) -> Bool {
        let job = state.withLock { $0.jobs[ObjectIdentifier(value)] }
        return job?.interval().map { $0 > .zero } ?? false
    }

    func isSubscribed(_ value: any ServedAttribute) -> Bool {
        state.withLock { $0.subscribers[ObjectIdentifier(value)]?.isEmpty == false }
    }

    func subscribed(_ central: UUID, to value: any ServedAttribute) {
        let isFirst = state.withLock { state in
            state.subscribers[ObjectIdentifier(value), default: []].insert(central)
            return state.subscribers[ObjectIdentifier(value)]?.count == 1
        }
        if isFirst { restart(value) }
    }

    func unsubscribed(_ central: UUID, from value: any ServedAttribute) {
        state.withLock { _ = $0.subscribers[ObjectIdentifier(value)]?.remove(central) }
        if !isSubscribed(value) { restart(value) }
    }

    /// Nobody listens any more.
    func removeAllSubscribers() {
        let jobs = state.withLock { state in
            state.subscribers = [:]
            return Array(state.jobs.keys)
        }
        for key in jobs { restart(key) }
    }

    /// Nothing is done any more.
    func removeAll() {
        removeAllSubscribers()
        state.withLock { $0.jobs = [:] }
    }

    /// Drops the call that is due, and asks for the next if somebody listens.
    func restart(_ value: any ServedAttribute) { restart(ObjectIdentifier(value)) }

    private func restart(_ key: ObjectIdentifier) {
        let (old, job) = state.withLock { state -> ((any BackendTimer)?, Job?) in
            let old = state.jobs[key]?.timer
            state.jobs[key]?.timer = nil
            state.jobs[key]?.generation += 1
            return (old, state.subscribers[key]?.isEmpty == false ? state.jobs[key] : nil)
        }
        old?.cancel()
        if let job { schedule(key, job) }
    }

    private func schedule(_ key: ObjectIdentifier, _ job: Job) {
        guard let interval = job.interval(), interval > .zero else { return }
        let generation = job.generation
        let timer = clock.schedule(after: interval) { [weak self] in self?.fire(key, generation) }
        let isStale = state.withLock { state in
            guard state.jobs[key]?.generation == generation else { return true }
            state.jobs[key]?.timer = timer
            return false
        }
        if isStale { timer.cancel() }
    }

    private func fire(_ key: ObjectIdentifier, _ generation: Int) {
        let job = state.withLock { state -> Job? in
            guard state.jobs[key]?.generation == generation else { return nil }
            return state.jobs[key]
        }
        guard let job else { return }
        job.body()
        let isCurrent = state.withLock { $0.jobs[key]?.generation == generation }
        if isCurrent { schedule(key, job) }
    }
}
