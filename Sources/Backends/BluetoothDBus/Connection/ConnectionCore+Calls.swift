#if os(Linux)
import BluetoothSupport
import Logging

// Incoming calls, on the queue.
extension ConnectionCore {
    /// Answers the calls that every peer must answer, and passes all others to the handler.
    func handleCall(_ message: DBusMessage) {
        let handler = state.withLock { $0.callHandler }
        do throws(DBusError) {
            if message.has(interface: "org.freedesktop.DBus.Peer", member: "Ping") {
                if message.expectsReply { try send(message.methodReturn()) }
            } else if let handler {
                handler(try DBusCall(message, on: self))
            } else {
                throw DBusError(name: DBusError.Name.unknownMethod, message: "no such method")
            }
        } catch {
            refuse(message, error)
        }
    }

    private func refuse(_ call: DBusMessage, _ error: DBusError) {
        guard call.expectsReply else { return }
        do throws(DBusError) {
            try send(call.errorReply(error))
        } catch {
            Self.logger.line(.debug, "a call could not be answered: \(error)")
        }
    }
}
#endif
