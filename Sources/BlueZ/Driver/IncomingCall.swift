#if os(Linux)
import BluetoothDBus

/// A call of the daemon to one of our objects, until it is answered.
struct IncomingCall: Sendable {
    /// Which call.
    struct Number: Hashable, Sendable {
        let rawValue: UInt64
    }

    var number: Number
    var path: ObjectPath
    var member: String
    var arguments: [DBusValue] = []
}

/// The calls of the daemon that wait for their answers.
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
