import BluetoothSupport
import CoreBluetooth

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// Runs an operation, and cancels it when it takes longer than `limit`.
///
/// A late response to a cancelled command completes no other one. Scans and subscriptions of the
/// operation end with it.
///
/// - Parameters:
///   - limit: The maximum duration.
///   - clock: The clock of the waits.
///   - operation: The operation, run in a child task.
/// - Throws: ``BluetoothError`` with the reason ``BluetoothError/Reason/timedOut(_:)`` and the interrupted operation,
///   or the operation's own error.
public func withTimeout<Result: Sendable, C: Clock>(
    _ limit: Duration, clock: C, _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result where C.Duration == Duration {
    let record = InterruptionRecord()
    return try await InterruptionRecord.$current.withValue(record) {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await clock.sleep(for: limit)
                return nil
            }
            let first = await group.nextResult()
            group.cancelAll()
            if case .success(let result?) = first { return result }
            if case .failure(let error) = first, !(error is CancellationError) { throw error }
            // The time is over, or the caller was cancelled; the operation may have ended meanwhile.
            let second = await group.nextResult()
            if case .success(let result?) = second { return result }
            if case .failure(let error) = second, !(error is CancellationError) { throw error }
            if case .failure(let error) = first { throw error }
            throw record.error(.timedOut(limit))
        }
    }
}

/// Runs an operation, and cancels it when it takes longer than `limit`.
///
/// The limit is in the time of the backend that the task selects: an emulator's in a test that has one, within
/// `emulator.run { … }` and within `CBManager.withBackend(_:)`; otherwise in real time.
///
/// - Parameters:
///   - limit: The maximum duration.
///   - operation: The operation, run in a child task.
/// - Throws: The errors of ``withTimeout(_:clock:_:)``.
public func withTimeout<Result: Sendable>(
    _ limit: Duration, _ operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withTimeout(limit, clock: ManagerClock(), operation)
}

#if canImport(Darwin)
/// Real time, the only time of Apple's CoreBluetooth.
typealias ManagerClock = ContinuousClock

extension ContinuousClock {
    private static let origin = ContinuousClock.now

    init(of manager: CBManager) { self.init() }

    var date: Date { Date() }
    var elapsedTime: Duration { Self.origin.duration(to: now) }
}
#endif

/// Records the operation that a cancellation interrupted, for the error of a timeout.
final class InterruptionRecord: Sendable {
    @TaskLocal static var current: InterruptionRecord?

    private let first = Lock<BluetoothError.Context?>(nil)

    func record(_ context: BluetoothError.Context) {
        first.withLock { if $0 == nil { $0 = context } }
    }

    func error(_ reason: BluetoothError.Reason) -> BluetoothError {
        BluetoothError(first.withLock { $0 } ?? BluetoothError.Context(.task), reason)
    }
}
