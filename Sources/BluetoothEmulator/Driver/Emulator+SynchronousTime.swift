import BluetoothLocking
import Dispatch
import Foundation
import Synchronization

extension Emulator {
    /// The synchronous twin of ``advance(by:)``, for callers that cannot await.
    ///
    /// The calling thread waits until each receiver has handled its events; the main thread serves its run loop
    /// meanwhile, so that receivers on the main queue work. Traps inside a callback: the driver waits for the callback
    /// to return, and would wait for itself. Inside a block of the main queue (so in a main-actor test, too) the main
    /// queue serves nobody: await ``advance(by:)`` there.
    ///
    /// - Throws: ``EmulatorError``, as ``advance(by:)`` does.
    public func advanceSynchronously(by duration: Duration) throws {
        _ = try driveSynchronously(for: duration, .instant) { false }
    }

    /// The synchronous twin of ``advance(until:within:)``; see ``advanceSynchronously(by:)``.
    ///
    /// - Throws: ``EmulatorError``, as ``advance(until:within:)`` does.
    public func advanceSynchronously(until condition: () -> Bool, within limit: Duration = .seconds(60)) throws {
        guard try driveSynchronously(for: limit, .instant, condition) == .met else {
            throw EmulatorError.conditionNotMet(within: limit)
        }
    }

    /// The synchronous twin of ``runUntilIdle(within:)``; see ``advanceSynchronously(by:)``.
    ///
    /// - Throws: ``EmulatorError``, as ``runUntilIdle(within:)`` does.
    public func runUntilIdleSynchronously(within limit: Duration = .seconds(3600)) throws {
        guard try driveSynchronously(for: limit, .idle, { false }) == .idle else {
            throw EmulatorError.notIdle(within: limit)
        }
    }

    private func driveSynchronously(
        for duration: Duration, _ goal: DriveGoal, _ condition: () -> Bool
    ) throws -> DriveEnd {
        let limit: Nanoseconds
        do {
            limit = try beginDrive(for: duration)
        } catch EmulatorError.alreadyDriven {
            preconditionFailure(EmulatorError.alreadyDriven.description)
        }
        defer { endDrive() }
        let patience = core.withLock { $0.virtual.patience }
        while true {
            if condition() { return .met }
            switch core.withLock({ $0.drive(until: limit, goal) }) {
            case .settle(let receivers):
                for receiver in receivers {
                    let settlement = Settlement()
                    receiver.afterDelivery { settlement.finish(true) }
                    guard settlement.wait(patience) else { throw EmulatorError.unsettled(label: receiver.label) }
                }
            case .errand(let errand): run(errand)
            case .awaitHolds:
                let settlement = Settlement()
                whenReleased { settlement.finish(true) }
                guard settlement.wait(patience) else { throw EmulatorError.held }
            case .reachedLimit: return .limit
            case .isIdle: return .idle
            case .livelock(let tail): throw EmulatorError.livelock(at: now, trace: tail)
            }
        }
    }
}

extension Settlement {
    /// Blocks until the wait is over, for so long at most; the main thread serves its run loop meanwhile.
    fileprivate func wait(_ patience: Duration) -> Bool {
        let seconds = patience / .seconds(1)
        let semaphore = DispatchSemaphore(value: 0)
        let isMain = Thread.isMainThread
        whenFinished { _ in
            semaphore.signal()
            // Only this wakes the main run loop on Linux.
            if isMain { DispatchQueue.main.async {} }
        }
        guard isMain else { return semaphore.wait(timeout: .now() + seconds) == .success }
        let deadline = Date(timeIntervalSinceNow: seconds)
        while outcome == nil, deadline.timeIntervalSinceNow > 0 {
            _ = RunLoop.main.run(mode: .default, before: min(deadline, Date(timeIntervalSinceNow: 0.1)))
        }
        return outcome == true
    }
}
