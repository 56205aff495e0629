#if os(Linux)
import BluetoothBackend

/// One manager's view of a ``PeripheralRadio``.
final class BlueZPeripheral: PeripheralBackend {
    private let radio: PeripheralRadio
    private let manager: HostLedger.Manager

    init(radio: PeripheralRadio) {
        self.radio = radio
        manager = radio.newManager()
    }

    deinit { radio.invalidate(manager) }

    func activate(_ sink: any EventSink<PeripheralEvent>) {
        radio.activate(manager, sink)
    }

    func submit(_ command: PeripheralCommand) {
        radio.submit(command, from: manager)
    }

    func invalidate() {
        radio.invalidate(manager)
    }
}
#endif
