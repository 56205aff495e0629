#if os(Linux)
import BluetoothSupport
import Logging
import Synchronization

// Invariant: `message` does not change after receipt; building a reply only reads it.
/// An incoming method call that waits for its reply.
///
/// Any thread may reply, now or later; only the first reply is sent. A call that is released without a reply is
/// refused, so that no caller waits forever.
package final class DBusCall: @unchecked Sendable {
    private let message: DBusMessage
    private let core: ConnectionCore
    private let isAnswered = Atomic(false)

    /// The caller's unique name, which the bus guarantees.
    package let sender: String
    package let path: ObjectPath
    /// The method's interface; callers may omit it.
    package let interface: String?
    package let member: String
    package let signature: String
    package let arguments: [DBusValue]

    /// - Throws: An error if the message is not a call, or if its body is malformed.
    init(_ message: DBusMessage, on core: ConnectionCore) throws(DBusError) {
        guard let sender = message.sender, let path = message.path, let member = message.member else {
            throw DBusError(name: DBusError.Name.inconsistentMessage, message: "not a method call")
        }
        self.message = message
        self.core = core
        self.sender = sender
        self.path = path
        self.member = member
        interface = message.interface
        signature = message.signature
        var reader = DBusReader(message)
        arguments = try reader.remainingValues()
    }

    deinit {
        refuse(DBusError(name: DBusError.Name.failed, message: "the call was released without a reply"))
    }

    /// Replies with values; descriptors among them are duplicated.
    ///
    /// Values that violate a rule of D-Bus are logged, and the caller receives an error.
    package func answer(_ values: [DBusValue] = []) {
        reply { message throws(DBusError) in try message.methodReturn(values) }
    }

    package func refuse(_ error: DBusError) {
        reply { message throws(DBusError) in try message.errorReply(error) }
    }

    /// Sends a reply if it is the first, and the caller expects one.
    private func reply(_ make: (DBusMessage) throws(DBusError) -> DBusMessage) {
        guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing), message.expectsReply else { return }
        do throws(DBusError) {
            try core.send(make(message))
        } catch {
            failed(error)
        }
    }

    /// Reports to the caller that a reply could not be sent.
    private func failed(_ error: DBusError) {
        // The users of a closed connection are notified anyway.
        guard error.name != DBusError.Name.disconnected else { return }
        ConnectionCore.logger.line(.error, "\(member) on \(path) could not be replied to: \(error)")
        do throws(DBusError) {
            let text = DBusError(name: DBusError.Name.failed, message: "the reply could not be sent")
            try core.send(message.errorReply(text))
        } catch {
            ConnectionCore.logger.line(.error, "this failure could not be reported to the caller: \(error)")
        }
    }
}
#endif
