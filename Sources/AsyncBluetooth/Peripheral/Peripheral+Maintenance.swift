import BluetoothLocking
import CoreBluetooth

/// A connection that is kept up.
extension Peripheral {
    /// Connects, and connects again whenever the link is lost, for as long as the sequence is read.
    ///
    /// An attempt lasts until the device is there, also through times when the adapter is off. Notifications go on over
    /// lost links. Ends with ``disconnect()``, with the policy's limit, and with the end of the loop or its task; then the
    /// link stays as it is.
    ///
    /// - Parameters:
    ///   - policy: How long to wait before an attempt that follows a failure or a lost link, and how many to make.
    ///   - clock: By which time.
    public func maintainConnection<C: Clock>(
        _ policy: ReconnectionPolicy = .backoff(), clock: C
    ) -> EventSequence<ConnectionEvent> where C.Duration == Duration {
        EventSequence {
            let central = self.core.radio.core
            let buffer = ElementBuffer<ConnectionEvent>(central.settings.buffering, self.context(.connect), central.log)
            let number = self.core.withState { $0.beginMaintenance() }
            let task = Task(executorPreference: central.executor) {
                await self.maintain(policy, clock, buffer, number)
            }
            // The app may have ended the link since the task was made.
            if self.core.withState({ $0.maintenance.attach(task, to: number) }) { task.cancel() }
            return ElementReader(buffer, self.context(.connect), onDeinit: DeinitAction { task.cancel() })
        }
    }

    /// As ``maintainConnection(_:clock:)``, in the time of this device's backend: an emulator's, or real time.
    public func maintainConnection(_ policy: ReconnectionPolicy = .backoff()) -> EventSequence<ConnectionEvent> {
        maintainConnection(policy, clock: core.radio.clock)
    }

    private func maintain<C: Clock>(
        _ policy: ReconnectionPolicy, _ clock: C, _ buffer: ElementBuffer<ConnectionEvent>, _ number: Int
    ) async where C.Duration == Duration {
        var end = BluetoothError.Reason.cancelled
        defer {
            core.transition { $0.endMaintenance(number, end) }
            buffer.finish()
        }
        var random = policy.makeGenerator(for: identifier)
        var failures = 0
        do {
            while true {
                let event = try await attempt(buffer)
                switch event {
                case .failed(let error):
                    end = error.reason
                    failures += 1
                    guard policy.attempts.map({ failures < $0 }) ?? true else {
                        buffer.append(.gaveUp(error))
                        return
                    }
                    buffer.append(event)
                    try await clock.sleep(for: policy.delay(after: failures - 1, using: &random))
                case .disconnected(let error):
                    end = error.reason
                    failures = 0
                    buffer.append(event)
                    try await clock.sleep(for: policy.delay(after: 0, using: &random))
                case .connected, .cancelled, .gaveUp:
                    buffer.append(event)
                    return
                }
            }
        } catch {
            // The sequence is not read any more, or the app ended the link.
            if core.withState({ $0.maintenance.isStopped(number) }) { buffer.append(.cancelled(self)) }
        }
    }

    /// One connection, from the attempt to how it ended: `failed`, `disconnected` or `cancelled`.
    ///
    /// - Throws: `CancellationError`.
    private func attempt(_ buffer: ElementBuffer<ConnectionEvent>) async throws -> ConnectionEvent {
        do {
            try await core.radio.core.ready(patiently: true)
            let link = try await core.connectedLink()
            try await core.resubscribe()
            buffer.append(.connected(self))
            return event(of: try await core.end(of: link)) { .disconnected($0) }
        } catch let failure as Failure {
            return event(of: failure.reason) { .failed($0) }
        }
    }

    private func event(
        of reason: BluetoothError.Reason, _ wrap: (BluetoothError) -> ConnectionEvent
    ) -> ConnectionEvent {
        if case .cancelled = reason { return .cancelled(self) }
        return wrap(BluetoothError(context(.connect), reason))
    }
}
