#if os(Linux)
import BluetoothBackend

/// One manager's view of a ``PeripheralRadio``.
final class BlueZPeripheral: PeripheralBackend {
    private let radio: PeripheralRadio
    private let manager: HostLedger.Manager

    private let pairing: PairingRadio?

    /// - Parameter pairing: What agrees to pairings that centrals begin; nil where the system does.
    init(radio: PeripheralRadio, pairing: PairingRadio?) {
        self.radio = radio
        self.pairing = pairing
        manager = radio.newManager()
    }

    deinit { radio.invalidate(manager) }

    func activate(_ sink: any EventSink<PeripheralEvent>) {
        radio.activate(manager, sink)
        pairing?.want()
        pairing?.setServing(true)
    }

    func submit(_ command: PeripheralCommand) {
        radio.submit(command, from: manager)
    }

    func invalidate() {
        radio.invalidate(manager)
    }
}
#endif
