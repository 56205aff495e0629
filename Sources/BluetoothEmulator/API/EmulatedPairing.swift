import BluetoothBackend

/// An agent for pairing in an emulated world.
final class EmulatedPairing: PairingBackend {
    private let emulator: Emulator
    private let manager: Ref<Manager>

    init(_ emulator: Emulator, _ manager: Ref<Manager>) {
        self.emulator = emulator
        self.manager = manager
    }

    func activate(_ sink: any EventSink<PairingEvent>) {
        emulator.activate(manager, .pairing(sink))
    }

    func submit(_ command: PairingCommand) {
        emulator.submit(.pairing(manager, command))
    }

    func invalidate() {
        emulator.invalidate(manager)
    }
}
