import BluetoothLocking
import CoreBluetooth

/// The tasks that run the app's handlers.
extension ServerCore {
    /// Runs a handler in a task that ends with the server.
    ///
    /// - Parameters:
    ///   - refuse: Is called instead when as many handlers run as the settings allow.
    ///   - body: The handler, and the answer.
    func handle(refuse: () -> Void, _ body: @escaping @Sendable () async -> Void) {
        let limit = max(1, settings.handlerLimit)
        let (number, isFirstRefusal) = withState { state -> (Int?, Bool) in
            guard state.handlers.count < limit else {
                state.refusedCount += 1
                return (nil, state.refusedCount == 1)
            }
            let number = state.newNumber()
            state.handlers[number] = .some(nil)
            return (number, false)
        }
        guard let number else {
            if isFirstRefusal {
                log.warning(.server, "\(limit) handlers run: requests are refused until one of them returns")
            }
            return refuse()
        }
        let task = Task(executorPreference: executor) { [weak self] in
            await body()
            self?.withState { $0.handlers[number] = nil }
        }
        withState { state in
            if state.handlers[number] != nil { state.handlers[number] = task }
        }
    }

    /// Runs a handler for as long as the settings allow.
    func limited<Result: Sendable>(
        by manager: Unchecked<CBPeripheralManager>, _ handler: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let limit = settings.handlerTimeout else { return try await handler() }
        do {
            return try await withTimeout(limit, clock: RadioClock(of: manager.value), handler)
        } catch let error as BluetoothError {
            if case .timedOut = error.reason { log.warning(.server, "a handler was cancelled after \(limit)") }
            throw error
        }
    }
}
