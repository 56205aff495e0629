import BluetoothBackend
import BluetoothLocking
import Foundation
import Synchronization

/// One peripheral role of a ``ScriptedRadio``.
final class ScriptedPeripheral: PeripheralBackend {
    private struct State {
        var sink: (any EventSink<PeripheralEvent>)?
        var commands: [PeripheralCommand] = []
        var isInvalidated = false
    }

    private let state = Lock(State())

    func activate(_ sink: any EventSink<PeripheralEvent>) { state.withLock { $0.sink = sink } }
    func submit(_ command: PeripheralCommand) { state.withLock { $0.commands.append(command) } }

    func invalidate() {
        state.withLock { state in
            state.isInvalidated = true
            state.sink = nil
        }
    }

    var isInvalidated: Bool { state.withLock { $0.isInvalidated } }
    var commands: [PeripheralCommand] { state.withLock { $0.commands } }

    func send(_ events: PeripheralEvent...) {
        let sink = state.withLock { $0.sink }
        for event in events { sink?.deliver(event) }
    }

    /// Returns when all that was sent has been handled.
    func settle() async {
        guard let sink = state.withLock({ $0.sink }) else { return }
        await withCheckedContinuation { continuation in
            sink.afterDelivery { continuation.resume() }
        }
    }

    /// Sends, and returns when it has been handled.
    func play(_ events: PeripheralEvent...) async {
        let sink = state.withLock { $0.sink }
        for event in events { sink?.deliver(event) }
        await settle()
    }

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
    /// What the answer to the command echoes.
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
