#if os(Linux)
// swift-format-ignore-file: AlwaysUseLowerCamelCase
@_implementationOnly import CBluetoothDBus
import Glibc
import Synchronization

/// The C library libdbus-1, which is loaded when the first message is created or the first connection is opened.
///
/// Its functions are declared in C, in `Modulemaps/CBluetoothDBus`, and the compiler compares them with libdbus's header
/// when the tests are built. No product needs that header, and a program starts even if libdbus is missing.
///
/// Only this file imports the C module, and only for the implementation. Otherwise every module that imports this one,
/// directly or not, would need the C module's flags; SwiftPM passes these only to dependants, while
/// `canImport(CoreBluetooth)` is true for every module that is compiled later.
enum LibDBus {
    typealias Version = (major: CInt, minor: CInt, micro: CInt)

    /// The name of the only binary interface that libdbus 1 ever had.
    static let soname = "libdbus-1.so.3"
    /// The first version with all declared functions.
    static let minimumVersion: Version = (1, 2, 16)

    /// The address of the library's handle, which is never closed; 0 until the library is loaded.
    private static let handle = Atomic<UInt>(0)

    /// Loads the library; the functions below may be called if it does not throw.
    ///
    /// - Throws: `NotSupported`, with the remedy, if the library is not installed; `LimitsExceeded` if the process has
    ///   no descriptor left to open it. The call may then be repeated.
    static func load() throws(DBusError) {
        guard handle.load(ordering: .acquiring) == 0 else { return }
        handle.store(UInt(bitPattern: try open(soname).get()), ordering: .releasing)
    }

    /// Opens a shared library that contains the functions below.
    static func open(_ soname: String) -> Result<UnsafeMutableRawPointer, DBusError> {
        guard let handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "it cannot be loaded"
            guard isOutOfResources(reason) else { return .failure(missing(reason)) }
            return .failure(DBusError(name: DBusError.Name.limitsExceeded, message: reason))
        }
        let flaw = flaw(of: version(of: handle), without: absentFunction(of: handle))
        return flaw.map { .failure(missing($0)) } ?? .success(handle)
    }

    /// The reason why a library cannot be used; nil if it can.
    ///
    /// - Parameters:
    ///   - version: The version, or nil if the library is not libdbus-1.
    ///   - absentFunction: The first function that the library lacks.
    static func flaw(of version: Version?, without absentFunction: String?) -> String? {
        guard let version else { return "it is another library" }
        guard version >= minimumVersion else {
            return "its version is \(version.major).\(version.minor).\(version.micro)"
        }
        return absentFunction.map { "it has no function \($0)" }
    }

    /// The version of a library; nil if it is not libdbus-1.
    static func version(of library: UnsafeMutableRawPointer) -> Version? {
        var numbers: [CInt] = [0, 0, 0]
        return bluetooth_dbus_version(library, &numbers) ? (numbers[0], numbers[1], numbers[2]) : nil
    }

    /// The name of the first declared function that a library lacks; nil if it has all of them.
    static func absentFunction(of library: UnsafeMutableRawPointer) -> String? {
        withFunctions(of: library) { _, absent in absent }
    }

    /// Whether the loader reached a limit of the process or the system, which may be temporary; only the loader's text
    /// names the cause.
    private static func isOutOfResources(_ reason: String) -> Bool {
        [EMFILE, ENFILE, ENOMEM].contains { reason.contains(String(cString: strerror($0))) }
    }

    private static func missing(_ reason: String) -> DBusError {
        DBusError(
            name: DBusError.Name.notSupported,
            message: "\(soname) is needed (Debian and Ubuntu: apt-get install libdbus-1-3): \(reason)")
    }

    /// Passes `body` the table of a library's functions, and the first missing name, at which the table ends.
    private static func withFunctions<Result>(
        of library: UnsafeMutableRawPointer, _ body: (UnsafeMutablePointer<BluetoothDBusFunctions>, String?) -> Result
    ) -> Result {
        let table = UnsafeMutablePointer<BluetoothDBusFunctions>.allocate(capacity: 1)
        defer { table.deallocate() }
        return body(table, bluetooth_dbus_load(table, library).map { String(cString: $0) })
    }

    fileprivate static func functions() -> BluetoothDBusFunctions {
        do {
            try load()
        } catch {
            preconditionFailure("\(error)")
        }
        guard let library = UnsafeMutableRawPointer(bitPattern: handle.load(ordering: .acquiring)) else {
            preconditionFailure("\(soname) is not loaded")
        }
        // `open(_:)` has found all functions.
        return withFunctions(of: library) { table, _ in table.pointee }
    }

    /// Opens a private connection.
    ///
    /// Blocks while `connect(2)` blocks.
    static func openConnection(_ address: String) throws(DBusError) -> OpaquePointer {
        try load()
        guard libdbus.dbus_threads_init_default() != 0 else { throw .outOfMemory }
        var error = CBluetoothDBus.DBusError()
        libdbus.dbus_error_init(&error)
        guard let connection = libdbus.dbus_connection_open_private(address, &error) else {
            defer { libdbus.dbus_error_free(&error) }
            throw DBusError(
                name: error.name.map { String(cString: $0) } ?? DBusError.Name.inconsistentMessage,
                message: error.message.map { String(cString: $0) } ?? "")
        }
        return connection
    }
}

private let libdbus = LibDBus.functions()

// MARK: Types and constants

typealias DBusMessageIter = CBluetoothDBus.DBusMessageIter

let DBUS_MESSAGE_TYPE_METHOD_CALL = CBluetoothDBus.DBUS_MESSAGE_TYPE_METHOD_CALL
let DBUS_MESSAGE_TYPE_METHOD_RETURN = CBluetoothDBus.DBUS_MESSAGE_TYPE_METHOD_RETURN
let DBUS_MESSAGE_TYPE_ERROR = CBluetoothDBus.DBUS_MESSAGE_TYPE_ERROR
let DBUS_MESSAGE_TYPE_SIGNAL = CBluetoothDBus.DBUS_MESSAGE_TYPE_SIGNAL

let DBUS_WATCH_READABLE = CBluetoothDBus.DBUS_WATCH_READABLE.rawValue
let DBUS_WATCH_WRITABLE = CBluetoothDBus.DBUS_WATCH_WRITABLE.rawValue
let DBUS_WATCH_ERROR = CBluetoothDBus.DBUS_WATCH_ERROR.rawValue
let DBUS_WATCH_HANGUP = CBluetoothDBus.DBUS_WATCH_HANGUP.rawValue

let DBUS_DISPATCH_DATA_REMAINS = CBluetoothDBus.DBUS_DISPATCH_DATA_REMAINS

// MARK: Connections

let dbus_connection_close = libdbus.dbus_connection_close
let dbus_connection_unref = libdbus.dbus_connection_unref
let dbus_connection_get_socket = libdbus.dbus_connection_get_socket
let dbus_connection_get_is_authenticated = libdbus.dbus_connection_get_is_authenticated
let dbus_connection_can_send_type = libdbus.dbus_connection_can_send_type
let dbus_connection_set_exit_on_disconnect = libdbus.dbus_connection_set_exit_on_disconnect
let dbus_connection_set_max_message_size = libdbus.dbus_connection_set_max_message_size
let dbus_connection_pop_message = libdbus.dbus_connection_pop_message
let dbus_connection_send = libdbus.dbus_connection_send
let dbus_connection_set_dispatch_status_function = libdbus.dbus_connection_set_dispatch_status_function
let dbus_connection_set_wakeup_main_function = libdbus.dbus_connection_set_wakeup_main_function
let dbus_connection_set_watch_functions = libdbus.dbus_connection_set_watch_functions
let dbus_bus_set_unique_name = libdbus.dbus_bus_set_unique_name
let dbus_watch_get_enabled = libdbus.dbus_watch_get_enabled
let dbus_watch_get_flags = libdbus.dbus_watch_get_flags
let dbus_watch_handle = libdbus.dbus_watch_handle

// MARK: Messages

let dbus_message_new_method_call = libdbus.dbus_message_new_method_call
let dbus_message_new_method_return = libdbus.dbus_message_new_method_return
let dbus_message_new_error = libdbus.dbus_message_new_error
let dbus_message_new_signal = libdbus.dbus_message_new_signal
let dbus_message_unref = libdbus.dbus_message_unref
let dbus_message_get_type = libdbus.dbus_message_get_type
let dbus_message_get_path = libdbus.dbus_message_get_path
let dbus_message_get_interface = libdbus.dbus_message_get_interface
let dbus_message_get_member = libdbus.dbus_message_get_member
let dbus_message_get_error_name = libdbus.dbus_message_get_error_name
let dbus_message_get_sender = libdbus.dbus_message_get_sender
let dbus_message_get_destination = libdbus.dbus_message_get_destination
let dbus_message_get_signature = libdbus.dbus_message_get_signature
let dbus_message_get_no_reply = libdbus.dbus_message_get_no_reply
let dbus_message_get_reply_serial = libdbus.dbus_message_get_reply_serial
let dbus_message_set_destination = libdbus.dbus_message_set_destination
let dbus_message_set_no_reply = libdbus.dbus_message_set_no_reply
let dbus_message_set_serial = libdbus.dbus_message_set_serial

// MARK: Reading arguments

let dbus_message_iter_init = libdbus.dbus_message_iter_init
let dbus_message_iter_next = libdbus.dbus_message_iter_next
let dbus_message_iter_recurse = libdbus.dbus_message_iter_recurse
let dbus_message_iter_get_arg_type = libdbus.dbus_message_iter_get_arg_type
let dbus_message_iter_get_element_type = libdbus.dbus_message_iter_get_element_type
let dbus_message_iter_get_signature = libdbus.dbus_message_iter_get_signature
let dbus_message_iter_get_basic = libdbus.dbus_message_iter_get_basic
let dbus_message_iter_get_fixed_array = libdbus.dbus_message_iter_get_fixed_array

// MARK: Appending arguments

let dbus_message_iter_init_append = libdbus.dbus_message_iter_init_append
let dbus_message_iter_append_basic = libdbus.dbus_message_iter_append_basic
let dbus_message_iter_append_fixed_array = libdbus.dbus_message_iter_append_fixed_array
let dbus_message_iter_open_container = libdbus.dbus_message_iter_open_container
let dbus_message_iter_close_container = libdbus.dbus_message_iter_close_container
let dbus_message_iter_abandon_container = libdbus.dbus_message_iter_abandon_container

// MARK: The library

let dbus_free = libdbus.dbus_free
#endif
