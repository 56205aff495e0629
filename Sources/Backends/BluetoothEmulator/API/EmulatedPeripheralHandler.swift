import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// The behavior of an emulated device: answers requests and handles events.
///
/// All functions run inside a step of the world. They must be quick and pure: they change only `state`, and add actions
/// to `device`. The emulator never runs them concurrently for one device. A handler that must wait is an
/// ``AsynchronousPeripheralHandler``.
public protocol EmulatedPeripheralHandler: Sendable {
    /// The state of the device.
    associatedtype State: Sendable

    /// Creates the state of a device that was just switched on.
    func makeState() -> State

    /// Answers a read or a write; called if the attribute's permissions allow it.
    ///
    /// ``PeripheralResponse/stored`` lets the server return the stored value or store the new one.
    func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse

    /// Answers a discovery or a subscription; called each time a central requests one over the air.
    func respond(
        to procedure: PeripheralProcedure, state: inout State, device: inout DeviceActions
    ) -> ProcedureResponse

    /// Answers a central that connects; called once for each attempt.
    func respond(
        to request: ConnectionRequest, state: inout State, device: inout DeviceActions
    ) -> ConnectionResponse

    /// Handles connections, subscriptions, timers and changes of parameters.
    func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions)
}

extension EmulatedPeripheralHandler {
    /// Lets the server answer every request.
    public func respond(
        to request: PeripheralRequest, state: inout State, device: inout DeviceActions
    ) -> PeripheralResponse { .stored }

    /// Grants everything.
    public func respond(
        to procedure: PeripheralProcedure, state: inout State, device: inout DeviceActions
    ) -> ProcedureResponse { .granted }

    /// Accepts every central.
    public func respond(
        to request: ConnectionRequest, state: inout State, device: inout DeviceActions
    ) -> ConnectionResponse { .accepted }

    /// Does nothing.
    public func handle(_ event: DeviceEvent, state: inout State, device: inout DeviceActions) {}
}

extension EmulatedPeripheralHandler where State == Void {
    /// Keeps no state.
    public func makeState() {}
}

/// A handler with its state, type-erased.
protocol DeviceBehavior: Sendable {
    /// Starts the handler with the attributes of the device that was just switched on.
    mutating func begin(_ database: AttributeDatabase, address: DeviceAddress, seed: UInt64)
    /// Returns the time from a request to its answer; nil uses the time that the link and the settings give.
    ///
    /// - Parameter written: What a write carries.
    mutating func responseTime(_ step: DeviceFault.Step, _ attribute: AttributeID, _ written: WritePart?) -> Duration?
    mutating func respond(to request: PeripheralRequest, device: inout DeviceActions) -> PeripheralResponse
    mutating func respond(to procedure: PeripheralProcedure, device: inout DeviceActions) -> ProcedureResponse
    mutating func respond(to request: ConnectionRequest, device: inout DeviceActions) -> ConnectionResponse
    mutating func handle(_ event: DeviceEvent, device: inout DeviceActions)
}

extension DeviceBehavior {
    mutating func begin(_ database: AttributeDatabase, address: DeviceAddress, seed: UInt64) {}
    mutating func responseTime(_ step: DeviceFault.Step, _ attribute: AttributeID, _ written: WritePart?) -> Duration? {
        nil
    }
    mutating func respond(to request: ConnectionRequest, device: inout DeviceActions) -> ConnectionResponse {
        .accepted
    }
}

struct HandledBehavior<Handler: EmulatedPeripheralHandler>: DeviceBehavior {
    let handler: Handler
    var state: Handler.State

    init(_ handler: Handler) {
        self.handler = handler
        state = handler.makeState()
    }

    mutating func respond(to request: PeripheralRequest, device: inout DeviceActions) -> PeripheralResponse {
        handler.respond(to: request, state: &state, device: &device)
    }

    mutating func respond(to procedure: PeripheralProcedure, device: inout DeviceActions) -> ProcedureResponse {
        handler.respond(to: procedure, state: &state, device: &device)
    }

    mutating func respond(to request: ConnectionRequest, device: inout DeviceActions) -> ConnectionResponse {
        handler.respond(to: request, state: &state, device: &device)
    }

    mutating func handle(_ event: DeviceEvent, device: inout DeviceActions) {
        handler.handle(event, state: &state, device: &device)
    }
}
