import BluetoothSupport
import Dispatch
import Foundation

extension Emulator {
    /// Advances virtual time by `duration`, handling all events that are due.
    ///
    /// The sink of each event handles it before the next event happens. Do not call this inside a callback.
    ///
    /// - Throws: ``EmulatorError``: a livelock, a sink that does not settle, a hold that is not released, real time, or
    ///   another active driver.
    public func advance(by duration: Duration) async throws {
        _ = try await drive(for: duration, .instant) { false }
    }

    /// Advances virtual time until `condition` is true.
    ///
    /// - Parameters:
    ///   - condition: Evaluated at first and after each handled event, on any thread.
    ///   - limit: The maximum virtual time.
    /// - Throws: ``EmulatorError``, as ``advance(by:)`` does; ``EmulatorError/conditionNotMet(within:)`` at the limit.
    public func advance(
        until condition: @escaping @Sendable () -> Bool, within limit: Duration = .seconds(60)
    ) async throws {
        guard case .met = try await drive(for: limit, .instant, condition) else {
            throw EmulatorError.conditionNotMet(within: limit)
        }
    }

    /// Advances virtual time until only periodic events are pending: advertising, repeating timers.
    ///
    /// - Parameter limit: The maximum virtual time.
    /// - Throws: ``EmulatorError``, as ``advance(by:)`` does; ``EmulatorError/notIdle(within:)`` at the limit.
    public func runUntilIdle(within limit: Duration = .seconds(3600)) async throws {
        guard case .isIdle = try await drive(for: limit, .idle, { false }) else {
            throw EmulatorError.notIdle(within: limit)
        }
    }

    /// Whether only periodic events are pending.
    public var isIdle: Bool {
        core.withLock {
            $0.world.lower.context.queue.isIdle && $0.world.lower.context.outputs.isEmpty && $0.virtual.holds == 0
        }
    }

    private func drive(
        for duration: Duration, _ goal: DriveGoal, _ condition: @escaping @Sendable () -> Bool
    ) async throws -> VirtualTimeRun.Outcome {
        let limit = try beginDrive(for: duration)
        defer { endDrive() }
        let drive = VirtualTimeRun(self, until: limit, goal, condition: condition)
        let outcome = await withCheckedContinuation { continuation in
            drive.start { continuation.resume(returning: $0) }
        }
        if case .failed(let error) = outcome { throw error }
        return outcome
    }

    /// Claims the drive.
    ///
    /// - Returns: The instant at which the drive ends.
    func beginDrive(for duration: Duration) throws -> Nanoseconds {
        guard time == .virtual else { throw EmulatorError.notVirtual }
        return try core.withLock { core throws -> Nanoseconds in
            guard !core.virtual.isDriven else { throw EmulatorError.alreadyDriven }
            core.virtual.isDriven = true
            core.virtual.isUnsettled = true
            core.virtual.stepsAtInstant = 0
            return min(core.world.lower.context.now + max(0, duration.nanoseconds), .max / 2)
        }
    }

    func endDrive() {
        core.withLock { $0.virtual.isDriven = false }
    }

    /// Calls `body` when all holds are released; at once if time is not held.
    func whenReleased(_ body: @escaping @Sendable () -> Void) {
        let isFree = core.withLock { core -> Bool in
            if core.virtual.holds > 0 { core.virtual.waiters.append(body) }
            return core.virtual.holds == 0
        }
        if isFree { body() }
    }

    /// Adds a check, which runs after each handled event, on any thread, while no task of the world runs.
    package func addCheck(_ check: @escaping @Sendable () -> Void) { checks.withLock { $0.append(check) } }

    /// Performs the steps of a script at their times, on the devices and hosts that exist then.
    ///
    /// A step on a device or host that does not exist has no effect; a note in the trace reports it.
    package func perform(_ script: [ScriptStep]) {
        let end = script.map(\.end).max() ?? .zero
        core.withLock { $0.virtual.endOfScript = max($0.virtual.endOfScript, end) }
        for step in script {
            _ = clock.schedule(after: step.time - now) { [weak self] in
                self?.perform { $0.world.perform(step) }
            }
        }
    }

    /// The time at which the last step of the performed scripts is over; zero without a step.
    package var endOfScript: Duration { core.withLock { $0.virtual.endOfScript } }

    /// Stops virtual time until the token is released, for code that the emulator cannot observe.
    public func hold() -> TimeHold { TimeHold(self) }
}

extension Emulator {
    /// Advances virtual time like ``advance(by:)``, for callers that cannot await.
    ///
    /// The calling thread waits until each sink has handled its events; the main thread serves its run loop during the
    /// wait, so that sinks on the main queue work. Traps inside a callback, where the driver would wait for itself.
    /// Inside a block of the main queue, and so in a main-actor test, the main queue runs no other block: await
    /// ``advance(by:)`` there.
    ///
    /// - Throws: ``EmulatorError``, as ``advance(by:)`` does.
    public func advanceSynchronously(by duration: Duration) throws {
        let limit = try beginSynchronousDrive(for: duration)
        defer { endDrive() }
        _ = try wait(for: VirtualTimeRun(self, until: limit, .instant))
    }

    /// Advances virtual time like ``advance(until:within:)``, for callers that cannot await.
    ///
    /// See ``advanceSynchronously(by:)``.
    ///
    /// - Parameters:
    ///   - condition: Evaluated on the calling thread.
    ///   - limit: The maximum virtual time.
    /// - Throws: ``EmulatorError``, as ``advance(until:within:)`` does.
    public func advanceSynchronously(until condition: () -> Bool, within limit: Duration = .seconds(60)) throws {
        let end = try beginSynchronousDrive(for: limit)
        defer { endDrive() }
        while !condition() {
            let drive = VirtualTimeRun(self, until: end, .instant, stopsWhenQuiescent: true)
            if case .reachedLimit = try wait(for: drive) { throw EmulatorError.conditionNotMet(within: limit) }
        }
    }

    /// Advances virtual time like ``runUntilIdle(within:)``, for callers that cannot await; see
    /// ``advanceSynchronously(by:)``.
    ///
    /// - Throws: ``EmulatorError``, as ``runUntilIdle(within:)`` does.
    public func runUntilIdleSynchronously(within limit: Duration = .seconds(3600)) throws {
        let end = try beginSynchronousDrive(for: limit)
        defer { endDrive() }
        guard case .isIdle = try wait(for: VirtualTimeRun(self, until: end, .idle)) else {
            throw EmulatorError.notIdle(within: limit)
        }
    }

    private func beginSynchronousDrive(for duration: Duration) throws -> Nanoseconds {
        do {
            return try beginDrive(for: duration)
        } catch EmulatorError.alreadyDriven {
            preconditionFailure(EmulatorError.alreadyDriven.description)
        }
    }

    /// Blocks until a drive ends; the main thread serves its run loop during the wait.
    private func wait(for drive: VirtualTimeRun) throws -> VirtualTimeRun.Outcome {
        let outcome = TaskContext.whileWaiting { SynchronousWait.value(of: drive.start) }
        if case .failed(let error) = outcome { throw error }
        return outcome
    }
}

/// A wait of the calling thread for work on another thread.
package enum SynchronousWait {
    /// Calls `start`, and blocks until the closure that it passes to `start` has been called.
    ///
    /// The main thread serves its run loop during the wait, so that the main queue works.
    ///
    /// - Parameter start: Starts the work; it calls `finish` once, on any thread.
    /// - Returns: The argument of `finish`.
    package static func value<Value: Sendable>(
        of start: (_ finish: @escaping @Sendable (Value) -> Void) -> Void
    ) -> Value {
        let value = Lock<Value?>(nil)
        let semaphore = DispatchSemaphore(value: 0)
        let isMain = Thread.isMainThread
        start { result in
            value.withLock { $0 = result }
            semaphore.signal()
            // Only this wakes the main run loop on Linux.
            if isMain { DispatchQueue.main.async {} }
        }
        while true {
            if let value = value.withLock({ $0 }) { return value }
            if isMain {
                _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
            } else {
                semaphore.wait()
            }
        }
    }
}
