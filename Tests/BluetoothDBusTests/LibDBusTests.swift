#if os(Linux)
@testable import BluetoothDBus
import CBluetoothDBus
import Foundation
import Testing

/// Tests that the declarations in Swift match libdbus's headers.
struct LibDBusTests {
    /// A function's type in Swift's notation, from a header's declaration and from ours.
    struct Function: CustomTestStringConvertible {
        let name: String
        let inHeader: Any.Type
        let here: Any.Type

        init(_ name: String, _ inHeader: Any, _ here: Any) {
            self.name = name
            self.inHeader = type(of: inHeader)
            self.here = type(of: here)
        }

        var testDescription: String { name }
    }

    @Test("Each function has the type that the header gives it", arguments: functions)
    func eachFunctionHasTheTypeThatTheHeaderGivesIt(function: Function) {
        #expect(Self.normalized(function.inHeader) == Self.normalized(function.here))
    }

    /// Structures and enumerations of C are raw pointers and numbers here.
    private static func normalized(_ type: Any.Type) -> String {
        var text = String(reflecting: type).replacing("@convention(c) ", with: "").replacing("@Sendable ", with: "")
        for structure in ["DBusMessageIter", "DBusError"] {
            text = text.replacing(
                "Swift.UnsafeMutablePointer<__C.\(structure)>", with: "Swift.UnsafeMutableRawPointer")
        }
        return text.replacing("__C.DBusDispatchStatus", with: "Swift.UInt32")
    }

    @Test func everyFunctionThatIsDeclaredIsCompared() throws {
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/BluetoothDBus/Library/LibDBus.swift").standardized
        let declared = try String(contentsOf: source, encoding: .utf8).matches(of: /(?m)^let (dbus_\w+):/).map {
            String($0.output.1)
        }
        #expect(Set(declared) == Set(Self.functions.map(\.name)))
        #expect(declared.count >= 50)
    }

    @Test func constantsAreThoseOfTheHeader() {
        #expect(BluetoothDBus.DBUS_MESSAGE_TYPE_METHOD_CALL == CBluetoothDBus.DBUS_MESSAGE_TYPE_METHOD_CALL)
        #expect(BluetoothDBus.DBUS_MESSAGE_TYPE_METHOD_RETURN == CBluetoothDBus.DBUS_MESSAGE_TYPE_METHOD_RETURN)
        #expect(BluetoothDBus.DBUS_MESSAGE_TYPE_ERROR == CBluetoothDBus.DBUS_MESSAGE_TYPE_ERROR)
        #expect(BluetoothDBus.DBUS_MESSAGE_TYPE_SIGNAL == CBluetoothDBus.DBUS_MESSAGE_TYPE_SIGNAL)
        #expect(BluetoothDBus.DBUS_WATCH_READABLE == CBluetoothDBus.DBUS_WATCH_READABLE.rawValue)
        #expect(BluetoothDBus.DBUS_WATCH_WRITABLE == CBluetoothDBus.DBUS_WATCH_WRITABLE.rawValue)
        #expect(BluetoothDBus.DBUS_WATCH_ERROR == CBluetoothDBus.DBUS_WATCH_ERROR.rawValue)
        #expect(BluetoothDBus.DBUS_WATCH_HANGUP == CBluetoothDBus.DBUS_WATCH_HANGUP.rawValue)
        #expect(BluetoothDBus.DBUS_DISPATCH_DATA_REMAINS == CBluetoothDBus.DBUS_DISPATCH_DATA_REMAINS.rawValue)
        #expect(eventfdFlags == CInt(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    @Test func structuresHaveTheRoomThatTheHeaderWants() {
        #expect(MemoryLayout<BluetoothDBus.DBusMessageIter>.size >= MemoryLayout<CBluetoothDBus.DBusMessageIter>.size)
        #expect(
            MemoryLayout<BluetoothDBus.DBusMessageIter>.alignment
                >= MemoryLayout<CBluetoothDBus.DBusMessageIter>.alignment)
        #expect(MemoryLayout<CDBusError>.size >= MemoryLayout<CBluetoothDBus.DBusError>.size)
        #expect(
            MemoryLayout<CDBusError>.offset(of: \.name) == MemoryLayout<CBluetoothDBus.DBusError>.offset(of: \.name))
        #expect(
            MemoryLayout<CDBusError>.offset(of: \.message)
                == MemoryLayout<CBluetoothDBus.DBusError>.offset(of: \.message))
    }

    @Test func aLibraryThatIsMissingIsAnErrorWithTheRemedy() {
        guard case .failure(let error) = LibDBus.open("libdbus-none.so.3") else {
            Issue.record("it was found")
            return
        }
        #expect(error.message.contains("apt-get install libdbus-1-3"))
        #expect(error.message.contains("libdbus-none.so.3"))
    }

    @Test func anotherLibraryIsAnErrorAsWell() {
        guard case .failure(let error) = LibDBus.open("libc.so.6") else {
            Issue.record("it was taken for libdbus")
            return
        }
        #expect(error.message.contains("another library"))
    }

    static let functions: [Function] = [
        Function(
            "dbus_connection_open_private", CBluetoothDBus.dbus_connection_open_private,
            BluetoothDBus.dbus_connection_open_private),
        Function("dbus_connection_close", CBluetoothDBus.dbus_connection_close, BluetoothDBus.dbus_connection_close),
        Function("dbus_connection_unref", CBluetoothDBus.dbus_connection_unref, BluetoothDBus.dbus_connection_unref),
        Function(
            "dbus_connection_get_socket", CBluetoothDBus.dbus_connection_get_socket,
            BluetoothDBus.dbus_connection_get_socket),
        Function(
            "dbus_connection_get_is_authenticated", CBluetoothDBus.dbus_connection_get_is_authenticated,
            BluetoothDBus.dbus_connection_get_is_authenticated),
        Function(
            "dbus_connection_can_send_type", CBluetoothDBus.dbus_connection_can_send_type,
            BluetoothDBus.dbus_connection_can_send_type),
        Function(
            "dbus_connection_set_exit_on_disconnect", CBluetoothDBus.dbus_connection_set_exit_on_disconnect,
            BluetoothDBus.dbus_connection_set_exit_on_disconnect),
        Function(
            "dbus_connection_set_max_message_size", CBluetoothDBus.dbus_connection_set_max_message_size,
            BluetoothDBus.dbus_connection_set_max_message_size),
        Function(
            "dbus_connection_pop_message", CBluetoothDBus.dbus_connection_pop_message,
            BluetoothDBus.dbus_connection_pop_message),
        Function("dbus_connection_send", CBluetoothDBus.dbus_connection_send, BluetoothDBus.dbus_connection_send),
        Function(
            "dbus_connection_set_dispatch_status_function", CBluetoothDBus.dbus_connection_set_dispatch_status_function,
            BluetoothDBus.dbus_connection_set_dispatch_status_function),
        Function(
            "dbus_connection_set_wakeup_main_function", CBluetoothDBus.dbus_connection_set_wakeup_main_function,
            BluetoothDBus.dbus_connection_set_wakeup_main_function),
        Function(
            "dbus_connection_set_watch_functions", CBluetoothDBus.dbus_connection_set_watch_functions,
            BluetoothDBus.dbus_connection_set_watch_functions),
        Function(
            "dbus_bus_set_unique_name", CBluetoothDBus.dbus_bus_set_unique_name,
            BluetoothDBus.dbus_bus_set_unique_name),
        Function("dbus_watch_get_enabled", CBluetoothDBus.dbus_watch_get_enabled, BluetoothDBus.dbus_watch_get_enabled),
        Function("dbus_watch_get_flags", CBluetoothDBus.dbus_watch_get_flags, BluetoothDBus.dbus_watch_get_flags),
        Function("dbus_watch_handle", CBluetoothDBus.dbus_watch_handle, BluetoothDBus.dbus_watch_handle),
        Function(
            "dbus_message_new_method_call", CBluetoothDBus.dbus_message_new_method_call,
            BluetoothDBus.dbus_message_new_method_call),
        Function(
            "dbus_message_new_method_return", CBluetoothDBus.dbus_message_new_method_return,
            BluetoothDBus.dbus_message_new_method_return),
        Function("dbus_message_new_error", CBluetoothDBus.dbus_message_new_error, BluetoothDBus.dbus_message_new_error),
        Function(
            "dbus_message_new_signal", CBluetoothDBus.dbus_message_new_signal,
            BluetoothDBus.dbus_message_new_signal),
        Function("dbus_message_unref", CBluetoothDBus.dbus_message_unref, BluetoothDBus.dbus_message_unref),
        Function("dbus_message_get_type", CBluetoothDBus.dbus_message_get_type, BluetoothDBus.dbus_message_get_type),
        Function("dbus_message_get_path", CBluetoothDBus.dbus_message_get_path, BluetoothDBus.dbus_message_get_path),
        Function(
            "dbus_message_get_interface", CBluetoothDBus.dbus_message_get_interface,
            BluetoothDBus.dbus_message_get_interface),
        Function(
            "dbus_message_get_member", CBluetoothDBus.dbus_message_get_member,
            BluetoothDBus.dbus_message_get_member),
        Function(
            "dbus_message_get_error_name", CBluetoothDBus.dbus_message_get_error_name,
            BluetoothDBus.dbus_message_get_error_name),
        Function(
            "dbus_message_get_sender", CBluetoothDBus.dbus_message_get_sender,
            BluetoothDBus.dbus_message_get_sender),
        Function(
            "dbus_message_get_destination", CBluetoothDBus.dbus_message_get_destination,
            BluetoothDBus.dbus_message_get_destination),
        Function(
            "dbus_message_get_signature", CBluetoothDBus.dbus_message_get_signature,
            BluetoothDBus.dbus_message_get_signature),
        Function(
            "dbus_message_get_no_reply", CBluetoothDBus.dbus_message_get_no_reply,
            BluetoothDBus.dbus_message_get_no_reply),
        Function(
            "dbus_message_get_reply_serial", CBluetoothDBus.dbus_message_get_reply_serial,
            BluetoothDBus.dbus_message_get_reply_serial),
        Function(
            "dbus_message_set_destination", CBluetoothDBus.dbus_message_set_destination,
            BluetoothDBus.dbus_message_set_destination),
        Function(
            "dbus_message_set_no_reply", CBluetoothDBus.dbus_message_set_no_reply,
            BluetoothDBus.dbus_message_set_no_reply),
        Function(
            "dbus_message_set_serial", CBluetoothDBus.dbus_message_set_serial,
            BluetoothDBus.dbus_message_set_serial),
        Function("dbus_message_iter_init", CBluetoothDBus.dbus_message_iter_init, BluetoothDBus.dbus_message_iter_init),
        Function("dbus_message_iter_next", CBluetoothDBus.dbus_message_iter_next, BluetoothDBus.dbus_message_iter_next),
        Function(
            "dbus_message_iter_recurse", CBluetoothDBus.dbus_message_iter_recurse,
            BluetoothDBus.dbus_message_iter_recurse),
        Function(
            "dbus_message_iter_get_arg_type", CBluetoothDBus.dbus_message_iter_get_arg_type,
            BluetoothDBus.dbus_message_iter_get_arg_type),
        Function(
            "dbus_message_iter_get_element_type", CBluetoothDBus.dbus_message_iter_get_element_type,
            BluetoothDBus.dbus_message_iter_get_element_type),
        Function(
            "dbus_message_iter_get_signature", CBluetoothDBus.dbus_message_iter_get_signature,
            BluetoothDBus.dbus_message_iter_get_signature),
        Function(
            "dbus_message_iter_get_basic", CBluetoothDBus.dbus_message_iter_get_basic,
            BluetoothDBus.dbus_message_iter_get_basic),
        Function(
            "dbus_message_iter_get_fixed_array", CBluetoothDBus.dbus_message_iter_get_fixed_array,
            BluetoothDBus.dbus_message_iter_get_fixed_array),
        Function(
            "dbus_message_iter_init_append", CBluetoothDBus.dbus_message_iter_init_append,
            BluetoothDBus.dbus_message_iter_init_append),
        Function(
            "dbus_message_iter_append_basic", CBluetoothDBus.dbus_message_iter_append_basic,
            BluetoothDBus.dbus_message_iter_append_basic),
        Function(
            "dbus_message_iter_append_fixed_array", CBluetoothDBus.dbus_message_iter_append_fixed_array,
            BluetoothDBus.dbus_message_iter_append_fixed_array),
        Function(
            "dbus_message_iter_open_container", CBluetoothDBus.dbus_message_iter_open_container,
            BluetoothDBus.dbus_message_iter_open_container),
        Function(
            "dbus_message_iter_close_container", CBluetoothDBus.dbus_message_iter_close_container,
            BluetoothDBus.dbus_message_iter_close_container),
        Function(
            "dbus_message_iter_abandon_container", CBluetoothDBus.dbus_message_iter_abandon_container,
            BluetoothDBus.dbus_message_iter_abandon_container),
        Function(
            "dbus_threads_init_default", CBluetoothDBus.dbus_threads_init_default,
            BluetoothDBus.dbus_threads_init_default),
        Function("dbus_error_init", CBluetoothDBus.dbus_error_init, BluetoothDBus.dbus_error_init),
        Function("dbus_error_free", CBluetoothDBus.dbus_error_free, BluetoothDBus.dbus_error_free),
        Function("dbus_free", CBluetoothDBus.dbus_free, BluetoothDBus.dbus_free),
    ]
}
#endif
