#if os(Linux)
import BluetoothDBus
import FoundationEssentials

@testable import BlueZ

/// A fake daemon: calls wait until a test answers them.
protocol FakeDaemon {
    /// The unanswered calls, in order.
    var calls: [(id: CallID, call: MethodCall)] { get set }

    /// Passes the outcome of a call to the machine.
    mutating func reply(_ id: CallID, _ result: Result<MethodReply, DBusError>)
}

extension FakeDaemon {
    /// The members of the unanswered calls.
    var waiting: [String] { calls.map(\.call.member) }

    /// Answers the oldest waiting call of a method.
    ///
    /// - Returns: The call; nil if none waits.
    @discardableResult
    mutating func answer(
        _ member: String, with result: Result<[DBusValue], DBusError> = .success([])
    ) -> MethodCall? {
        guard let index = calls.firstIndex(where: { $0.call.member == member }) else { return nil }
        let (id, call) = calls.remove(at: index)
        reply(id, result.map(call.reply(of:)))
        return call
    }

    /// Refuses the oldest waiting call of a method.
    @discardableResult
    mutating func refuse(_ member: String, _ name: String, _ message: String = "") -> MethodCall? {
        answer(member, with: .failure(DBusError(name: "org.bluez.Error." + name, message: message)))
    }
}

extension MethodCall {
    /// All arguments.
    var arguments: [DBusValue] { (value.map { [.bytes(Array($0))] } ?? []) + body }

    /// Returns the reply of a daemon that answers with these values.
    func reply(of values: [DBusValue]) -> MethodReply {
        switch reply {
        case .value: if let value = values.first?.bytesValue { return .value(Data(value)) }
        case .socket:
            if let socket = values.first?.descriptorValue, let mtu = values.last?.uint16Value {
                return .socket(socket, mtu: mtu)
            }
        case .nothing: break
        }
        return .empty
    }
}
#endif
