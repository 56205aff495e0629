import BluetoothBackend

/// A pairing role that a test scripts: it records commands, and the test sends events.
final class ScriptedPairing: PairingBackend, ScriptedRole {
    let script = RoleScript<PairingCommand, PairingEvent>()

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
}
