/// The behavior of an emulated device that answers asynchronously, from another task, a file or a socket.
///
/// All functions run outside the world, one at a time for each device, in the order of the events on the air. They may
/// use every control of the emulator. Virtual time pauses until they return. To answer late, sleep on
/// ``Emulator/swiftClock``, which lets time advance. A link whose request is not answered within 30 s ends.
///
/// If the functions of a device do not return, at most 10,000 calls wait. Beyond that, write commands and all events
/// except connections and disconnections are dropped, with a line in the ``Emulator/trace``.
public protocol AsynchronousPeripheralHandler: Sendable {
    /// Answers a central that connects; called once for each attempt.
    func respond(to request: ConnectionRequest) async -> ConnectionResponse

    /// Answers a discovery or a subscription; called each time a central requests one over the air.
    func respond(to procedure: PeripheralProcedure) async -> ProcedureResponse

    /// Answers a read or a write; called if the attribute's permissions allow it.
    ///
    /// ``PeripheralResponse/stored`` lets the server return the stored value or store the new one.
    func respond(to request: PeripheralRequest) async -> PeripheralResponse

    /// Handles connections, subscriptions, channels and changes of parameters.
    func handle(_ event: DeviceEvent) async
}

extension AsynchronousPeripheralHandler {
    /// Accepts every central.
    public func respond(to request: ConnectionRequest) async -> ConnectionResponse { .accepted }

    /// Grants everything.
    public func respond(to procedure: PeripheralProcedure) async -> ProcedureResponse { .granted }

    /// Lets the server answer every request.
    public func respond(to request: PeripheralRequest) async -> PeripheralResponse { .stored }

    /// Does nothing.
    public func handle(_ event: DeviceEvent) async {}
}
