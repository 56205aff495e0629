#if os(Linux)
import BluetoothBackend

/// One pairing agent's view of a ``PairingDriver``.
final class BlueZPairing: PairingBackend {
    private let driver: PairingDriver
    private let agent: PairingRoleMachine.Agent

    init(driver: PairingDriver) {
        self.driver = driver
        agent = driver.newAgent()
    }

    deinit { driver.invalidate(agent) }

    func activate(_ sink: any EventSink<PairingEvent>) { driver.activate(agent, sink) }

    func submit(_ command: PairingCommand) { driver.submit(command, from: agent) }

    func invalidate() { driver.invalidate(agent) }
}
#endif
