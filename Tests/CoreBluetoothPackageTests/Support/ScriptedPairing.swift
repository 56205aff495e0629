import BluetoothBackend
import BluetoothLocking
import Synchronization

/// Pairing that a test plays by hand: commands are kept, events are sent.
final class ScriptedPairing: PairingBackend {
    private struct State {
        var sink: (any EventSink<PairingEvent>)?
        var commands: [PairingCommand] = []
        var isInvalidated = false
    }

    private let state = Lock(State())

    func activate(_ sink: any EventSink<PairingEvent>) { state.withLock { $0.sink = sink } }
    func submit(_ command: PairingCommand) { state.withLock { $0.commands.append(command) } }

    func invalidate() {
        state.withLock { state in
            state.isInvalidated = true
            state.sink = nil
        }
    }

    var commands: [PairingCommand] { state.withLock { $0.commands } }
    var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    /// The operation of the last call.
    var lastOperation: OperationID? {
        for command in commands.reversed() {
            switch command {
            case .pair(_, let operation), .unpair(_, let operation): return operation
            case .setCapability, .answer: continue
            }
        }
        return nil
    }

    /// Sends, and returns when it has been handled.
    func play(_ events: PairingEvent...) async {
        guard let sink = state.withLock({ $0.sink }) else { return }
        for event in events { sink.deliver(event) }
        await withCheckedContinuation { continuation in
            sink.afterDelivery { continuation.resume() }
        }
    }
}
