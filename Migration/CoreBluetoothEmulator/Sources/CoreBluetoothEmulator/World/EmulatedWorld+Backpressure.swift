import Foundation

/// Queues that may be full, while `simulateBackpressure`.
extension EmulatedWorld {
    /// Returns whether a queue has room; always without simulation.
    func hasRoom(_ queue: LinkTables.Queue) -> Bool {
        state.withLock { state in
            guard state.configuration.simulateBackpressure else { return true }
            return state.links.hasRoom(queue, limit: state.configuration.limit(of: queue))
        }
    }

    /// Takes a place in a queue.
    func occupy(_ queue: LinkTables.Queue) {
        state.withLock { $0.links.occupy(queue) }
    }

    /// Takes a place in a queue for the processing delay, if backpressure is simulated.
    func occupyForAWhile(_ queue: LinkTables.Queue) {
        let configuration = configuration
        guard configuration.simulateBackpressure, let emulator else { return }
        occupy(queue)
        emulator.clock.schedule(after: .time(configuration.backpressureProcessingDelay)) { [weak self] in
            self?.release(queue)
        }
    }

    /// Releases a place in a queue, and notifies a manager or peripheral that waits for room.
    func release(_ queue: LinkTables.Queue) {
        let isReady = state.withLock { state in
            state.links.release(queue, limit: state.configuration.limit(of: queue))
        }
        guard isReady else { return }
        switch queue {
        case .writes(let pair): central(pair.central)?.knownPeripheral(pair.peripheral)?.reportReadyLater()
        case .notifications(let peripheral, _): self.peripheral(peripheral)?.reportReadyLater()
        }
    }
}

extension EmulatorConfiguration {
    fileprivate func limit(of queue: LinkTables.Queue) -> Int {
        switch queue {
        case .writes: maxWriteWithoutResponseQueue
        case .notifications: maxNotificationQueue
        }
    }
}
