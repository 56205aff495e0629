import CoreBluetooth

/// A connection that is kept up.
extension Peripheral {
    /// Connects, and connects again whenever the link is lost, for as long as the sequence is read.
    ///
    /// An attempt lasts until the device is there, also through times when the adapter is off. Notifications go on over
    /// lost links. Ends with ``disconnect()``, and with the end of the loop or its task; then the link stays as it is.
    ///
    /// - Parameters:
    ///   - policy: How long to wait before an attempt that follows a failure or a lost link.
    ///   - clock: By which time.
    public func maintainConnection<C: Clock>(
        _ policy: ReconnectionPolicy = .backoff(), clock: C
    ) -> EventSequence<ConnectionEvent> where C.Duration == Duration {
        EventSequence {
            let feed = Feed<ConnectionEvent>()
            let number = self.core.withState { $0.beginMaintenance() }
            let task = Task(executorPreference: self.core.radio.core.executor) {
                await self.maintain(policy, clock, feed, number)
            }
            self.core.withState { state in
                if state.maintenance[number] != nil { state.maintenance[number] = task }
            }
            return FeedReader(feed, self.context(.connect), lifetime: Lifetime { task.cancel() })
        }
    }

    /// As ``maintainConnection(_:clock:)``, in real time.
    public func maintainConnection(_ policy: ReconnectionPolicy = .backoff()) -> EventSequence<ConnectionEvent> {
        maintainConnection(policy, clock: ContinuousClock())
    }

    private func maintain<C: Clock>(
        _ policy: ReconnectionPolicy, _ clock: C, _ feed: Feed<ConnectionEvent>, _ number: Int
    ) async where C.Duration == Duration {
        var end = BluetoothError.Reason.cancelled
        defer {
            core.transition { $0.endMaintenance(number, end) }
            feed.finish()
        }
        var failures = 0
        do {
            while true {
                let event = try await attempt(feed)
                feed.yield(event)
                switch event {
                case .cancelled: return
                case .failed(let error):
                    end = error.reason
                    try await clock.sleep(for: policy.delay(after: failures))
                    failures += 1
                case .disconnected(let error):
                    end = error.reason
                    failures = 0
                    try await clock.sleep(for: policy.delay(after: 0))
                case .connected: break
                }
            }
        } catch {
            // The sequence is not read any more, or the app ended the link.
            if core.withState({ $0.stoppedMaintenance.contains(number) }) { feed.yield(.cancelled) }
        }
    }

    /// One connection, from the attempt to how it ended.
    ///
    /// - Throws: `CancellationError`.
    private func attempt(_ feed: Feed<ConnectionEvent>) async throws -> ConnectionEvent {
        do {
            try await core.radio.core.ready(patiently: true)
            let link = try await core.connectedLink()
            try await core.resubscribe()
            feed.yield(.connected)
            return event(of: try await core.end(of: link)) { .disconnected($0) }
        } catch let failure as Failure {
            return event(of: failure.reason) { .failed($0) }
        }
    }

    private func event(
        of reason: BluetoothError.Reason, _ wrap: (BluetoothError) -> ConnectionEvent
    ) -> ConnectionEvent {
        if case .cancelled = reason { return .cancelled }
        return wrap(BluetoothError(context(.connect), reason))
    }
}
