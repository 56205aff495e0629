/// The behaviour of an emulated device whose answers come from elsewhere: another task, a file, a socket.
///
/// All functions run outside of the world, one at a time for each device, in the order in which things happened on the air.
/// They may call every control of the emulator. Virtual time pauses until they return; late answers are made by sleeping on
/// ``Emulator/swiftClock``, which lets time go on. A link whose request is not answered within 30 s ends.
///
/// Of a device whose functions do not return, 10,000 calls wait at most: write commands, and events other than connections
/// and disconnections, are dropped beyond that, with a line in the ``Emulator/trace``.
public protocol AsynchronousPeripheralHandler: Sendable {
    /// Answers a central that connects, once for each attempt.
    func respond(to request: ConnectionRequest) async -> ConnectionResponse

    /// Answers a discovery or a subscription, each time a central asks for one over the air.
    func respond(to procedure: PeripheralProcedure) async -> ProcedureResponse

    /// Answers a read or a write; called when the attribute's permissions allow it.
    ///
    /// ``PeripheralResponse/stored`` leaves it to the server: it returns the stored value, or stores the new one.
    func respond(to request: PeripheralRequest) async -> PeripheralResponse

    /// Reacts to connections, subscriptions, channels and changes of parameters.
    func handle(_ event: DeviceEvent) async
}

extension AsynchronousPeripheralHandler {
    /// Accepts every central.
    public func respond(to request: ConnectionRequest) async -> ConnectionResponse { .accepted }

    /// Grants everything.
    public func respond(to procedure: PeripheralProcedure) async -> ProcedureResponse { .granted }

    /// Leaves everything to the server.
    public func respond(to request: PeripheralRequest) async -> PeripheralResponse { .stored }

    /// Does nothing.
    public func handle(_ event: DeviceEvent) async {}
}
