#if os(Linux)
import BluetoothBackend

/// One pairing agent's view of a ``PairingRadio``.
final class BlueZPairing: PairingBackend {
    private let radio: PairingRadio
    private let agent: PairingHost.Agent

    init(radio: PairingRadio) {
        self.radio = radio
        agent = radio.newAgent()
    }

    deinit { radio.invalidate(agent) }

    func activate(_ sink: any EventSink<PairingEvent>) { radio.activate(agent, sink) }

    func submit(_ command: PairingCommand) { radio.submit(command, from: agent) }

    func invalidate() { radio.invalidate(agent) }
}
#endif
