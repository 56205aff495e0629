#if os(Linux)
import Logging
import Synchronization

// Invariant: `message` is never changed after receipt; building a reply only reads it.
/// A method call that came from the bus, and waits for its answer.
///
/// Any thread may answer it, now or later; the first answer counts. A call that is let go of without an answer is
/// refused, so that no caller waits for ever.
public final class DBusCall: @unchecked Sendable {
    private let message: DBusMessage
    private let core: ConnectionCore
    private let isAnswered = Atomic(false)

    /// The caller's unique name, as the bus vouches for it.
    public let sender: String
    /// The object that is called.
    public let path: ObjectPath
    /// The method's interface; callers may leave it out.
    public let interface: String?
    /// The method.
    public let member: String
    /// The signature of the arguments.
    public let signature: String
    /// The arguments.
    public let arguments: [DBusValue]

    /// - Throws: Where the message is no call, or its body makes no sense.
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
        refuse(DBusError(name: DBusError.Name.failed, message: "the call was given up"))
    }

    /// Answers with values; descriptors among them are duplicated.
    ///
    /// Values that break a rule of D-Bus are logged, and the caller gets an error.
    public func answer(_ values: [DBusValue] = []) {
        guard claim() else { return }
        do throws(DBusError) {
            try core.send(message.methodReturn(values))
        } catch {
            failed(error)
        }
    }

    /// Answers with an error.
    public func refuse(_ error: DBusError) {
        guard claim() else { return }
        do throws(DBusError) {
            try core.send(message.errorReply(error))
        } catch {
            failed(error)
        }
    }

    /// Whether this answer is the first, and somebody waits for it.
    private func claim() -> Bool {
        !isAnswered.exchange(true, ordering: .acquiringAndReleasing) && message.expectsReply
    }

    /// An answer could not be sent; the caller at least hears that.
    private func failed(_ error: DBusError) {
        // A closed connection is no news: whoever uses it is told.
        guard error.name != DBusError.Name.disconnected else { return }
        ConnectionCore.logger.error("\(member) on \(path) could not be answered: \(error)")
        do throws(DBusError) {
            let text = DBusError(name: DBusError.Name.failed, message: "the answer could not be sent")
            try core.send(message.errorReply(text))
        } catch {
            ConnectionCore.logger.error("nor could that be said: \(error)")
        }
    }
}
#endif
