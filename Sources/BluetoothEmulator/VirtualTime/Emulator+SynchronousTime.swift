extension Emulator {
    /// The synchronous twin of ``advance(by:)``, for callers that cannot await.
    ///
    /// The calling thread waits until each sink has handled its events; the main thread serves its run loop
    /// meanwhile, so that sinks on the main queue work. Traps inside a callback: the driver waits for the callback
    /// to return, and would wait for itself. Inside a block of the main queue (so in a main-actor test, too) the main
    /// queue serves nobody: await ``advance(by:)`` there.
    ///
    /// - Throws: ``EmulatorError``, as ``advance(by:)`` does.
    public func advanceSynchronously(by duration: Duration) throws {
        let limit = try beginSynchronousDrive(for: duration)
        defer { endDrive() }
        _ = try wait(for: VirtualTimeRun(self, until: limit, .instant))
    }

    /// The synchronous twin of ``advance(until:within:)``; see ``advanceSynchronously(by:)``.
    ///
    /// - Parameters:
    ///   - condition: Asked on the calling thread.
    ///   - limit: The most virtual time that it may take.
    /// - Throws: ``EmulatorError``, as ``advance(until:within:)`` does.
    public func advanceSynchronously(until condition: () -> Bool, within limit: Duration = .seconds(60)) throws {
        let end = try beginSynchronousDrive(for: limit)
        defer { endDrive() }
        while !condition() {
            let drive = VirtualTimeRun(self, until: end, .instant, stopsWhenSettled: true)
            if case .reachedLimit = try wait(for: drive) { throw EmulatorError.conditionNotMet(within: limit) }
        }
    }

    /// The synchronous twin of ``runUntilIdle(within:)``; see ``advanceSynchronously(by:)``.
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

    /// Blocks until a drive ends; the main thread serves its run loop meanwhile.
    private func wait(for drive: VirtualTimeRun) throws -> VirtualTimeRun.Outcome {
        let outcome = TaskContext.whileWaiting { SynchronousWait.value(of: drive.start) }
        if case .failed(let error) = outcome { throw error }
        return outcome
    }
}
