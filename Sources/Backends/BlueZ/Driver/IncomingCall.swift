#if os(Linux)
import BluetoothDBus

/// A call of the daemon to an object of this process, until it is answered.
struct IncomingCall: Sendable {
    /// The identifier of a call.
    struct Number: Hashable, Sendable {
        let rawValue: UInt64
    }

    var number: Number
    var path: ObjectPath
    var member: String
    var arguments: [DBusValue] = []
}

/// The unanswered calls of the daemon.
struct IncomingCalls: Sendable {
    private var calls: [IncomingCall.Number: DBusCall] = [:]
    private var last: UInt64 = 0

    mutating func add(_ call: DBusCall) -> IncomingCall {
        last += 1
        let number = IncomingCall.Number(rawValue: last)
        calls[number] = call
        return IncomingCall(number: number, path: call.path, member: call.member, arguments: call.arguments)
    }

    mutating func remove(_ number: IncomingCall.Number) -> DBusCall? { calls.removeValue(forKey: number) }
}
#endif
