import BluetoothSupport
import CoreBluetooth
public import Foundation

/// Maintained connections.
extension Peripheral {
    /// Connects, and reconnects after each loss of the link, for as long as the sequence is read.
    ///
    /// An attempt lasts until the device is in range, also while the adapter is off. Notifications continue after lost
    /// links. It ends with ``disconnect()``, with the policy's limit, and with the loop or its task; in the last case
    /// the link stays as it is.
    ///
    /// A device that changes its private address is a new device for the host, unless they have bonded. To return to
    /// such a device, limit the attempts and ``Central/Settings/connectTimeout``, and search again after `gaveUp`.
    ///
    /// - Parameters:
    ///   - policy: The wait before an attempt that follows a failure or a lost link, and the number of attempts.
    ///   - clock: The clock of the waits.
    public func maintainConnection<C: Clock>(
        _ policy: ReconnectionPolicy = .backoff(), clock: C
    ) -> EventSequence<ConnectionEvent> where C.Duration == Duration {
        EventSequence {
            let central = self.core.handle.core
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

    /// Connects and reconnects as ``maintainConnection(_:clock:)``, in the time of this device's backend: an
    /// emulator's, or real time.
    public func maintainConnection(_ policy: ReconnectionPolicy = .backoff()) -> EventSequence<ConnectionEvent> {
        maintainConnection(policy, clock: core.handle.clock)
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
            // The sequence is no longer read, or the app ended the link.
            if core.withState({ $0.maintenance.isStopped(number) }) { buffer.append(.cancelled(self)) }
        }
    }

    /// Makes one connection, from the attempt to its end: `failed`, `disconnected` or `cancelled`.
    ///
    /// - Throws: `CancellationError`.
    private func attempt(_ buffer: ElementBuffer<ConnectionEvent>) async throws -> ConnectionEvent {
        do {
            try await core.handle.core.ready(patiently: true)
            let link = try await core.connectedLink()
            try await core.resubscribe()
            buffer.append(.connected(self))
            let reason = try await core.end(of: link)
            if case .cancelled = reason { return .cancelled(self) }
            return .disconnected(BluetoothError(context(.connect).ofEndedLink, reason))
        } catch let failure as OperationFailure {
            if case .cancelled = failure.reason { return .cancelled(self) }
            return .failed(BluetoothError(context(.connect), failure.reason))
        }
    }
}

/// An event of a maintained connection; each names its device.
public enum ConnectionEvent: Sendable {
    /// The link exists, and the notifications are subscribed to again.
    case connected(Peripheral)
    /// An attempt failed; the next one follows.
    case failed(BluetoothError)
    /// The link ended; the next attempt follows.
    case disconnected(BluetoothError)
    /// The number of failures in a row reached ``ReconnectionPolicy/attempts``; nothing follows.
    case gaveUp(BluetoothError)
    /// The app called ``Peripheral/disconnect()``; nothing follows.
    case cancelled(Peripheral)

    /// The device's identifier.
    public var identifier: UUID? {
        switch self {
        case .connected(let peripheral), .cancelled(let peripheral): peripheral.identifier
        case .failed(let error), .disconnected(let error), .gaveUp(let error): error.peer
        }
    }
}

extension ConnectionEvent: CustomStringConvertible {
    /// The event and its device, as in `connected to Lamp (8A2F…)`.
    public var description: String {
        switch self {
        case .connected(let peripheral): "connected to \(peripheral.label)"
        case .failed(let error), .disconnected(let error): "\(error)"
        case .gaveUp(let error): "gave up: \(error)"
        case .cancelled(let peripheral): "disconnected from \(peripheral.label) by the app"
        }
    }
}

/// The wait before the next connection attempt, and the number of attempts.
public struct ReconnectionPolicy: Hashable, Sendable {
    /// The wait after the first failure, or a lost link, before jitter.
    public let initial: Duration
    /// The longest wait.
    public let maximum: Duration
    /// The factor between a wait and the one before it, 1 or more.
    public let factor: Double
    /// The largest random share that is subtracted from each wait, 0...1.
    public let jitter: Double
    /// The most failures in a row, 1 or more; nil for no limit.
    public let attempts: Int?
    /// The seed of the jitter; nil for the device's identifier.
    public let seed: UInt64?

    /// Creates a policy whose waits grow with each failure and restart from the first with a link.
    ///
    /// A random part is subtracted from each wait, so that devices that were lost together do not reconnect together.
    /// The random numbers follow from a seed: the same program waits equally long in each run.
    ///
    /// - Parameters:
    ///   - initial: The wait after the first failure, or a lost link.
    ///   - maximum: The longest wait.
    ///   - factor: The factor between a wait and the one before it; less than 1 is taken as 1.
    ///   - jitter: The largest share of a wait by which it is shortened, 0...1; a value outside is taken as the nearest
    ///     bound.
    ///   - attempts: The number of failures in a row after which it ends; nil for no limit, less than 1 is taken as 1.
    ///   - seed: The seed of the jitter; nil for the device's identifier, so that each device waits differently.
    public static func backoff(
        initial: Duration = .milliseconds(500), maximum: Duration = .seconds(30), factor: Double = 2,
        jitter: Double = 0.2, attempts: Int? = nil, seed: UInt64? = nil
    ) -> ReconnectionPolicy {
        let initial = max(.zero, initial)
        return ReconnectionPolicy(
            initial: initial, maximum: max(initial, maximum), factor: factor >= 1 ? factor : 1,
            jitter: jitter >= 0 ? min(jitter, 1) : 0, attempts: attempts.map { max(1, $0) }, seed: seed)
    }

    /// Returns the wait after a number of failures in a row, from 0.
    func delay(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        var delay = initial
        for _ in 0..<failures where delay < maximum { delay = delay * factor }
        delay = min(delay, maximum)
        return jitter == 0 ? delay : delay * (1 - Double.random(in: 0...jitter, using: &random))
    }

    func makeGenerator(for device: UUID) -> SeededGenerator {
        let bytes = device.uuid
        let low = withUnsafeBytes(of: bytes) { $0.loadUnaligned(as: UInt64.self) }
        let high = withUnsafeBytes(of: bytes) { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
        return SeededGenerator(seed: seed ?? low ^ high)
    }
}

/// The tasks that maintain a connection, and those among them that the app has stopped.
struct ConnectionMaintenance {
    private var tasks: [Int: Task<Void, Never>?] = [:]
    private var stopped: Set<Int> = []

    /// Whether no task is running, not even one that is ending.
    var isEmpty: Bool { tasks.isEmpty }

    var isActive: Bool { tasks.count > stopped.count }

    mutating func begin(_ number: Int) { tasks[number] = .some(nil) }

    /// Records that a task has begun.
    ///
    /// - Returns: Whether the app has stopped the task already, so that it must be cancelled.
    mutating func attach(_ task: Task<Void, Never>, to number: Int) -> Bool {
        guard tasks[number] != nil else { return false }
        tasks[number] = task
        return stopped.contains(number)
    }

    /// Stops all tasks, because the app has ended the link.
    ///
    /// - Returns: The tasks to cancel.
    mutating func stop() -> [Task<Void, Never>] {
        tasks.compactMap { number, task in stopped.insert(number).inserted ? task : nil }
    }

    func isStopped(_ number: Int) -> Bool { stopped.contains(number) }

    mutating func end(_ number: Int) {
        tasks[number] = nil
        stopped.remove(number)
    }
}
