#if os(Linux)
import BluetoothBackend

/// One pairing agent's view of a ``PairingDriver``.
final class BlueZPairing: PairingBackend {
    private let radio: PairingDriver
    private let agent: PairingRoleMachine.Agent

    init(radio: PairingDriver) {
        self.radio = radio
        agent = radio.newAgent()
    }

    deinit { radio.invalidate(agent) }

    func activate(_ sink: any EventSink<PairingEvent>) { radio.activate(agent, sink) }

    func submit(_ command: PairingCommand) { radio.submit(command, from: agent) }

    func invalidate() { radio.invalidate(agent) }
}
#endif
