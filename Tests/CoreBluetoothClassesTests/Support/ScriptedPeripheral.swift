import BluetoothBackend
import Foundation

/// A peripheral role of a ``ScriptedBackend``.
final class ScriptedPeripheral: PeripheralBackend, ScriptedRole {
    let script = RoleScript<PeripheralCommand, PeripheralEvent>()

    /// The services that were published, in order.
    var definitions: [ServiceDefinition] { commands.definitions }

    /// The operation of the last command that has one.
    var lastOperation: OperationID? { commands.compactMap(\.operation).last }

    /// The answers to requests, in order.
    var responses: [Response] { commands.responses }
}

/// The answer to a request.
struct Response: Equatable {
    let request: RequestID
    let attCode: UInt8
    let value: [UInt8]?

    init(_ request: UInt64, _ attCode: UInt8, _ value: [UInt8]? = nil) {
        self.request = RequestID(rawValue: request)
        self.attCode = attCode
        self.value = value
    }
}

extension PeripheralCommand {
    /// The operation that the answer to the command repeats.
    var operation: OperationID? {
        switch self {
        case .addService(let operation, _), .startAdvertising(let operation, _), .publishChannel(let operation, _),
            .unpublishChannel(let operation, _):
            operation
        default: nil
        }
    }
}

extension [PeripheralCommand] {
    var responses: [Response] {
        compactMap { command -> Response? in
            guard case .respond(let request, let code, let value) = command else { return nil }
            return Response(request.rawValue, code, value.map { [UInt8]($0) })
        }
    }

    var definitions: [ServiceDefinition] {
        compactMap { if case .addService(_, let service) = $0 { service } else { nil } }
    }
}
