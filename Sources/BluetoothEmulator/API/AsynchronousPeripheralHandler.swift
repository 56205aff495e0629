/// The behaviour of an emulated device whose answers come from elsewhere: another task, a file, a socket.
///
/// Each request runs in a task of its own, outside the world. Virtual time stands until the answer is there; late
/// answers are made by sleeping on ``Emulator/swiftClock``, which lets time go on.
public protocol AsynchronousPeripheralHandler: Sendable {
    /// Answers a read or a write; called when the attribute's permissions allow it.
    func respond(to request: PeripheralRequest) async -> PeripheralResponse
}
