#if os(Linux)
import BluetoothDBus

@testable import BlueZ

/// A fake daemon: calls wait until a test answers them.
protocol FakeDaemon {
    /// The unanswered calls, in order.
    var calls: [(id: CallID, call: MethodCall)] { get set }

    /// Passes the outcome of a call to the machine.
    mutating func reply(_ id: CallID, _ result: Result<[DBusValue], DBusError>)
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
        reply(id, result)
        return call
    }

    /// Refuses the oldest waiting call of a method.
    @discardableResult
    mutating func refuse(_ member: String, _ name: String, _ message: String = "") -> MethodCall? {
        answer(member, with: .failure(DBusError(name: "org.bluez.Error." + name, message: message)))
    }
}
#endif
