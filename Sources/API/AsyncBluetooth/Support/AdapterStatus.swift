import BluetoothSupport
import CoreBluetooth

/// The adapter's state, and the tasks that wait for `poweredOn`.
struct AdapterStatus {
    var state = CBManagerState.unknown
    var waiters: [Waiter<Void>] = []
}

/// A coordinator whose operations wait for the adapter.
protocol AdapterUser: Sendable {
    func withAdapter<Result: Sendable>(_ body: (inout AdapterStatus) -> Result) -> Result
}

extension AdapterUser {
    /// Waits for `poweredOn`.
    ///
    /// - Parameter patiently: Whether to wait also in states that only a person or a program can change.
    /// - Throws: `OperationFailure`, `CancellationError`.
    func ready(patiently: Bool = false) async throws {
        try Task.checkCancellation()
        while true {
            let waiter = Waiter<Void>()
            let now = withAdapter { adapter -> CBManagerState in
                let mustWait = adapter.state != .poweredOn && (patiently || !adapter.state.isTerminal)
                if mustWait { adapter.waiters.append(waiter) }
                return adapter.state
            }
            if now == .poweredOn { return }
            if now.isTerminal, !patiently { throw OperationFailure(.unavailable(now)) }
            try await waiter.value { withAdapter { $0.waiters.removeAll { $0 === waiter } } }
        }
    }
}

extension CBManagerState {
    /// Whether only a person or a program can change the state.
    var isTerminal: Bool {
        switch self {
        case .unsupported, .unauthorized, .poweredOff: true
        default: false
        }
    }
}
