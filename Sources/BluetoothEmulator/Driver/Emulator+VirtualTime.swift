import BluetoothLocking
import Synchronization

extension Emulator {
    /// Lets virtual time go on by `duration`, with all that is due.
    ///
    /// Each event is handled by its receiver before the next happens. Not to be called inside a callback.
    ///
    /// - Throws: ``EmulatorError``: livelock, a receiver that does not settle, a hold that is not released, no
    ///   virtual time, or another driver at work.
    public func advance(by duration: Duration) async throws {
        _ = try await drive(for: duration, .instant) { false }
    }

    /// Lets virtual time go on until `condition` is true, asked at first and after each handled event.
    ///
    /// - Parameter limit: The most virtual time that it may take.
    /// - Throws: ``EmulatorError``, as ``advance(by:)`` does; ``EmulatorError/conditionNotMet(within:)`` at the limit.
    public func advance(
        until condition: @Sendable () -> Bool, within limit: Duration = .seconds(60)
    ) async throws {
        guard try await drive(for: limit, .instant, condition) == .met else {
            throw EmulatorError.conditionNotMet(within: limit)
        }
    }

    /// Lets virtual time go on until nothing is pending but what repeats by itself: advertising, repeating timers.
    ///
    /// - Parameter limit: The most virtual time that it may take.
    /// - Throws: ``EmulatorError``, as ``advance(by:)`` does; ``EmulatorError/notIdle(within:)`` at the limit.
    public func runUntilIdle(within limit: Duration = .seconds(3600)) async throws {
        guard try await drive(for: limit, .idle, { false }) == .idle else {
            throw EmulatorError.notIdle(within: limit)
        }
    }

    /// Whether nothing is pending but what repeats by itself.
    public var isIdle: Bool {
        core.withLock { $0.world.queue.isIdle && $0.world.outputs.isEmpty && $0.virtual.holds == 0 }
    }

    /// How a drive ended.
    enum DriveEnd: Sendable {
        case met
        case idle
        case limit
    }

    private func drive(
        for duration: Duration, _ goal: DriveGoal, _ condition: @Sendable () -> Bool
    ) async throws -> DriveEnd {
        let limit = try beginDrive(for: duration)
        defer { endDrive() }
        let watchdog = Watchdog(patience: core.withLock { $0.virtual.patience })
        defer { watchdog.stop() }
        while true {
            if condition() { return .met }
            switch core.withLock({ $0.drive(until: limit, goal) }) {
            case .settle(let receivers):
                for receiver in receivers {
                    let settlement = Settlement()
                    watchdog.watch(settlement)
                    receiver.afterDelivery { settlement.finish(true) }
                    guard await settlement.value else { throw EmulatorError.unsettled(label: receiver.label) }
                }
            case .errand(let errand): run(errand)
            case .awaitHolds:
                let settlement = Settlement()
                watchdog.watch(settlement)
                whenReleased { settlement.finish(true) }
                guard await settlement.value else { throw EmulatorError.held }
            case .reachedLimit: return .limit
            case .isIdle: return .idle
            case .livelock(let tail):
                throw EmulatorError.livelock(at: now, trace: tail)
            }
        }
    }

    /// Claims the drive.
    ///
    /// - Returns: The instant at which it ends.
    func beginDrive(for duration: Duration) throws -> Nanoseconds {
        guard time == .virtual else { throw EmulatorError.notVirtual }
        return try core.withLock { core throws -> Nanoseconds in
            guard !core.virtual.isDriven else { throw EmulatorError.alreadyDriven }
            core.virtual.isDriven = true
            core.virtual.isUnsettled = true
            core.virtual.stepsAtInstant = 0
            let (limit, overflow) = core.world.now.addingReportingOverflow(max(0, duration.nanoseconds))
            return overflow ? .max : limit
        }
    }

    func endDrive() {
        core.withLock { $0.virtual.isDriven = false }
    }

    /// Calls `body` when no hold is left, at once if there is none.
    func whenReleased(_ body: @escaping @Sendable () -> Void) {
        let isFree = core.withLock { core -> Bool in
            if core.virtual.holds > 0 { core.virtual.waiters.append(body) }
            return core.virtual.holds == 0
        }
        if isFree { body() }
    }
}

extension Settlement {
    /// The outcome, once it is known.
    fileprivate var value: Bool {
        get async {
            await withCheckedContinuation { continuation in
                whenFinished { continuation.resume(returning: $0) }
            }
        }
    }
}
