import BluetoothBackend

/// The peripheral role in an emulated world, which has none yet: its state is `.unsupported`, and as it is never
/// `.poweredOn`, no command has an answer.
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

    func submit(_ command: PeripheralCommand) {}

    func invalidate() {
        emulator.invalidate(manager)
    }
}
