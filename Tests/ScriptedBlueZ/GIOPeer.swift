#if os(Linux)
public import BluetoothDBus
import BluetoothSupport
import CBluetoothGIO
import Synchronization

/// A peer on the bus that speaks through GDBus: calls arrive as values, answers and signals leave as values.
///
/// It filters messages on GDBus's worker thread, so it needs no main loop, and GDBus answers nothing by itself.
final class GIOPeer: @unchecked Sendable {
    // Invariant: set in `init`; GDBusConnection is safe to use from any thread.
    private let connection: OpaquePointer
    private let filter: guint
    private let isOpen = Lock(true)
    let uniqueName: String
    /// The lock that passes a receiver to its user, because ThreadSanitizer does not see GLib's own locks.
    private static let handOver = Lock(())

    /// Receives calls and signals, one at a time, on the worker thread.
    final class Receiver: Sendable {
        let receive, hear: @Sendable (ScriptedCall) -> Void
        init(_ receive: @escaping @Sendable (ScriptedCall) -> Void, _ hear: @escaping @Sendable (ScriptedCall) -> Void)
        {
            self.receive = receive
            self.hear = hear
        }
    }

    init(
        address: DBusAddress, receive: @escaping @Sendable (ScriptedCall) -> Void,
        hear: @escaping @Sendable (ScriptedCall) -> Void = { _ in }
    ) throws {
        var error: UnsafeMutablePointer<GError>?
        // Client authentication (1) on a message bus (8).
        let flags = GDBusConnectionFlags(rawValue: 1 | 8)
        let opened = g_dbus_connection_new_for_address_sync(address.text, flags, nil, nil, &error)
        guard let opened else { throw Self.consume(error) }
        connection = opened
        uniqueName = String(cString: g_dbus_connection_get_unique_name(opened))
        let receiver = Unmanaged.passRetained(Receiver(receive, hear)).toOpaque()
        Self.handOver.withLock { _ in }
        filter = g_dbus_connection_add_filter(
            opened,
            { _, message, incoming, data in
                guard let message, let data, incoming != 0 else { return message }
                GIOPeer.handOver.withLock { _ in }
                let receiver = Unmanaged<Receiver>.fromOpaque(data).takeUnretainedValue()
                switch g_dbus_message_get_message_type(message) {
                case G_DBUS_MESSAGE_TYPE_METHOD_CALL:
                    receiver.receive(ScriptedCall(adopting: message))
                    return nil
                case G_DBUS_MESSAGE_TYPE_SIGNAL:
                    g_object_ref(UnsafeMutableRawPointer(message))
                    receiver.hear(ScriptedCall(adopting: message))
                    return message
                default: return message
                }
            },
            receiver, { data in if let data { Unmanaged<Receiver>.fromOpaque(data).release() } })
    }

    deinit {
        close()
        g_object_unref(UnsafeMutableRawPointer(connection))
    }

    /// Leaves the bus soon.
    ///
    /// It does not use the blocking call: the last reference may end on GDBus's own worker thread, which would then
    /// wait for itself.
    func close() {
        let wasOpen = isOpen.withLock { exchange(&$0, with: false) }
        guard wasOpen else { return }
        g_dbus_connection_remove_filter(connection, filter)
        g_dbus_connection_close(connection, nil, nil, nil)
    }

    /// Requests a name from the bus, and takes it from its owner.
    func own(_ name: String) throws {
        // DBUS_NAME_FLAG_REPLACE_EXISTING and DBUS_NAME_FLAG_DO_NOT_QUEUE.
        let flags: UInt32 = 2 | 4
        let body = GVariantCoding.body([.string(name), .uint32(flags)], .init())
        try callBus("RequestName", body)
    }

    /// Releases a name.
    func release(_ name: String) throws {
        try callBus("ReleaseName", GVariantCoding.body([.string(name)], .init()))
    }

    private func callBus(_ member: String, _ body: OpaquePointer) throws {
        var error: UnsafeMutablePointer<GError>?
        let reply = g_dbus_connection_call_sync(
            connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, body, nil,
            GDBusCallFlags(rawValue: 0), 10_000, nil, &error)
        guard let reply else { throw Self.consume(error) }
        g_variant_unref(reply)
    }

    func emit(path: String, interface: String, member: String, _ body: [DBusValue], to destination: String? = nil) {
        let message = g_dbus_message_new_signal(path, interface, member)
        if let destination { g_dbus_message_set_destination(message, destination) }
        send(message, body)
    }

    func answer(_ call: ScriptedCall, _ body: [DBusValue]) {
        send(g_dbus_message_new_method_reply(call.message), body)
    }

    func refuse(_ call: ScriptedCall, _ error: DBusError) {
        send(g_dbus_message_new_method_error_literal(call.message, error.name, error.message), nil)
    }

    /// Calls a method of another connection and blocks until its reply.
    func call(
        _ destination: String, path: String, interface: String?, member: String, _ body: [DBusValue]
    ) throws -> [DBusValue] {
        let message = g_dbus_message_new_method_call(destination, path, interface, member)
        defer { if let message { g_object_unref(UnsafeMutableRawPointer(message)) } }
        let descriptors = GVariantCoding.Descriptors()
        if !body.isEmpty { g_dbus_message_set_body(message, GVariantCoding.body(body, descriptors)) }
        if !descriptors.isEmpty { g_dbus_message_set_unix_fd_list(message, descriptors.list) }
        var error: UnsafeMutablePointer<GError>?
        let flags = GDBusSendMessageFlags(rawValue: 0)
        let answer = g_dbus_connection_send_message_with_reply_sync(
            connection, message, flags, 20_000, nil, nil, &error)
        guard let answer else { throw Self.consume(error) }
        let reply = ScriptedCall(adopting: answer)
        guard let name = g_dbus_message_get_error_name(answer) else { return reply.body }
        throw DBusError(name: String(cString: name), message: reply.body.first?.stringValue ?? "")
    }

    /// Consumes the message.
    private func send(_ message: OpaquePointer?, _ body: [DBusValue]?) {
        guard let message else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(message)) }
        let descriptors = GVariantCoding.Descriptors()
        if let body, !body.isEmpty { g_dbus_message_set_body(message, GVariantCoding.body(body, descriptors)) }
        if !descriptors.isEmpty { g_dbus_message_set_unix_fd_list(message, descriptors.list) }
        var error: UnsafeMutablePointer<GError>?
        let sent = g_dbus_connection_send_message(connection, message, GDBusSendMessageFlags(rawValue: 0), nil, &error)
        if sent == 0 { print("scripted peer could not send: \(Self.consume(error))") }
    }

    private static func consume(_ error: UnsafeMutablePointer<GError>?) -> DBusError {
        defer { if let error { g_error_free(error) } }
        let text = error.flatMap(\.pointee.message).map { String(cString: $0) }
        return DBusError(name: "org.freedesktop.DBus.Error.Failed", message: text ?? "GDBus gave no reason")
    }
}

/// A method call, or a signal, that a scripted peer has received.
public final class ScriptedCall: @unchecked Sendable {
    // Invariant: never changed after receipt.
    let message: OpaquePointer
    /// The object, interface and method that were called.
    public let path, interface, member: String
    /// The caller's unique name.
    public let sender: String
    /// The arguments.
    public let body: [DBusValue]

    /// Takes over the caller's reference.
    init(adopting message: OpaquePointer) {
        self.message = message
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
        path = text(g_dbus_message_get_path(message))
        interface = text(g_dbus_message_get_interface(message))
        member = text(g_dbus_message_get_member(message))
        sender = text(g_dbus_message_get_sender(message))
        let list = g_dbus_message_get_unix_fd_list(message)
        body = g_dbus_message_get_body(message).flatMap { GVariantCoding.children($0, list) } ?? []
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(message)) }
}
#endif
