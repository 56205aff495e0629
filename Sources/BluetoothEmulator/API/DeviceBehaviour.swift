/// A handler with its state, without its type.
protocol DeviceBehaviour: Sendable {
    mutating func respond(to request: PeripheralRequest, device: inout DeviceActions) -> PeripheralResponse
    mutating func respond(
        to procedure: PeripheralProcedure, of central: CentralIdentity, device: inout DeviceActions
    ) -> ProcedureResponse
    mutating func handle(_ event: DeviceEvent, device: inout DeviceActions)
}

struct HandledBehaviour<Handler: EmulatedPeripheralHandler>: DeviceBehaviour {
    let handler: Handler
    var state: Handler.State

    init(_ handler: Handler) {
        self.handler = handler
        state = handler.makeState()
    }

    mutating func respond(to request: PeripheralRequest, device: inout DeviceActions) -> PeripheralResponse {
        handler.respond(to: request, state: &state, device: &device)
    }

    mutating func respond(
        to procedure: PeripheralProcedure, of central: CentralIdentity, device: inout DeviceActions
    ) -> ProcedureResponse {
        handler.respond(to: procedure, of: central, state: &state, device: &device)
    }

    mutating func handle(_ event: DeviceEvent, device: inout DeviceActions) {
        handler.handle(event, state: &state, device: &device)
    }
}
