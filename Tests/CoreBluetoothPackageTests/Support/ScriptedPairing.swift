import BluetoothBackend

/// Pairing that a test plays by hand: commands are kept, events are sent.
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
