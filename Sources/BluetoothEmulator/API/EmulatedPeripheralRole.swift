import BluetoothBackend

/// The peripheral role of one manager in an emulated world.
final class EmulatedPeripheralRole: PeripheralBackend {
    private let emulator: Emulator
    private let manager: Ref<Manager>

    init(_ emulator: Emulator, _ manager: Ref<Manager>) {
        self.emulator = emulator
        self.manager = manager
    }

    func activate(_ sink: any EventSink<PeripheralEvent>) {
        emulator.activate(manager, .peripheral(sink))
    }

    func submit(_ command: PeripheralCommand) {
        emulator.submit(.peripheral(manager, command))
    }

    func invalidate() {
        emulator.invalidate(manager)
    }
}
