#if os(Linux)
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized
import Glibc
import Synchronization

/// The C library libdbus-1, which is loaded when the first message is created or the first connection is opened.
///
/// Its functions are declared in Swift, as variables of the same names. Every module that imports this one, directly or
/// not, would need a C module; but SwiftPM passes a C module's flags only to dependants, while
/// `canImport(CoreBluetooth)` is true for every module that is compiled later. This way no product needs libdbus's
/// headers, and a program starts even if libdbus is missing.
enum LibDBus {
    /// The name of the only binary interface that libdbus 1 ever had.
    static let soname = "libdbus-1.so.3"
    /// The first version with all functions that are declared here.
    static let minimumVersion: (CInt, CInt, CInt) = (1, 2, 16)

    /// The address of the library's handle, 0 until it is loaded; it is never closed.
    private static let handle = Atomic<UInt>(0)

    /// Loads the library; if it does not throw, the functions below may be called.
    ///
    /// - Throws: `NotSupported`, with the remedy, if it is not installed; `LimitsExceeded` if the process has no
    ///   descriptor left to open it, after which it may be called again.
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
        guard let versionFunction = dlsym(handle, "dbus_get_version") else {
            return .failure(missing("\(soname) is another library"))
        }
        var version: (CInt, CInt, CInt) = (0, 0, 0)
        unsafeBitCast(versionFunction, to: VersionFunction.self)(&version.0, &version.1, &version.2)
        guard version >= minimumVersion else {
            return .failure(missing("its version is \(version.0).\(version.1).\(version.2)"))
        }
        return .success(handle)
    }

    private typealias VersionFunction =
        @convention(c) (UnsafeMutablePointer<CInt>?, UnsafeMutablePointer<CInt>?, UnsafeMutablePointer<CInt>?) -> Void

    /// Whether the loader reached a limit of the process or the system, which may be temporary; only its text names the
    /// cause.
    private static func isOutOfResources(_ reason: String) -> Bool {
        [EMFILE, ENFILE, ENOMEM].contains { reason.contains(String(cString: strerror($0))) }
    }

    private static func missing(_ reason: String) -> DBusError {
        DBusError(
            name: DBusError.Name.notSupported,
            message: "\(soname) is needed (Debian and Ubuntu: apt-get install libdbus-1-3): \(reason)")
    }

    /// A function of the library.
    ///
    /// - Parameter name: A function of every version from ``minimumVersion`` on; ``load()`` has succeeded.
    fileprivate static func function<Function>(_ name: String) -> Function {
        do {
            try load()
        } catch {
            preconditionFailure("\(error)")
        }
        let handle = UnsafeMutableRawPointer(bitPattern: handle.load(ordering: .acquiring))
        guard let symbol = dlsym(handle, name) else { preconditionFailure("\(soname) has no \(name)") }
        return unsafeBitCast(symbol, to: Function.self)
    }
}

// MARK: Types

/// False is zero.
typealias dbus_bool_t = UInt32
/// A connection, a message or a watch.
typealias DBusObject = OpaquePointer?
/// A zero-terminated text.
typealias DBusText = UnsafePointer<CChar>?
/// A structure, or a program's own data.
typealias DBusMemory = UnsafeMutableRawPointer?

/// An error of libdbus: its name, its text, and private fields.
///
/// Other structures are passed as raw pointers too, because a C function's type cannot contain Swift structures.
struct CDBusError {
    var name: UnsafePointer<CChar>?
    var message: UnsafePointer<CChar>?
    private var reserved: (UInt, UInt) = (0, 0)
}

/// Memory for an iterator, whose fields are private to libdbus.
struct DBusMessageIter {
    // 72 bytes if a pointer has 8, and 56 if it has 4.
    private var reserved: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0)
}

typealias DBusFreeFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void
typealias DBusAddWatchFunction = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> dbus_bool_t
typealias DBusWatchFunction = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void
typealias DBusWakeupMainFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void
typealias DBusDispatchStatusFunction = @convention(c) (OpaquePointer?, UInt32, UnsafeMutableRawPointer?) -> Void

let DBUS_MESSAGE_TYPE_METHOD_CALL: CInt = 1
let DBUS_MESSAGE_TYPE_METHOD_RETURN: CInt = 2
let DBUS_MESSAGE_TYPE_ERROR: CInt = 3
let DBUS_MESSAGE_TYPE_SIGNAL: CInt = 4

let DBUS_WATCH_READABLE: CUnsignedInt = 1
let DBUS_WATCH_WRITABLE: CUnsignedInt = 2
let DBUS_WATCH_ERROR: CUnsignedInt = 4
let DBUS_WATCH_HANGUP: CUnsignedInt = 8

let DBUS_DISPATCH_DATA_REMAINS: UInt32 = 0

// MARK: Connections

let dbus_connection_open_private: @convention(c) (DBusText, DBusMemory) -> DBusObject = LibDBus.function(
    "dbus_connection_open_private")
let dbus_connection_close: @convention(c) (DBusObject) -> Void = LibDBus.function("dbus_connection_close")
let dbus_connection_unref: @convention(c) (DBusObject) -> Void = LibDBus.function("dbus_connection_unref")
let dbus_connection_get_socket: @convention(c) (DBusObject, UnsafeMutablePointer<CInt>?) -> dbus_bool_t =
    LibDBus.function("dbus_connection_get_socket")
let dbus_connection_get_is_authenticated: @convention(c) (DBusObject) -> dbus_bool_t = LibDBus.function(
    "dbus_connection_get_is_authenticated")
let dbus_connection_can_send_type: @convention(c) (DBusObject, CInt) -> dbus_bool_t = LibDBus.function(
    "dbus_connection_can_send_type")
let dbus_connection_set_exit_on_disconnect: @convention(c) (DBusObject, dbus_bool_t) -> Void = LibDBus.function(
    "dbus_connection_set_exit_on_disconnect")
let dbus_connection_set_max_message_size: @convention(c) (DBusObject, CLong) -> Void = LibDBus.function(
    "dbus_connection_set_max_message_size")
let dbus_connection_pop_message: @convention(c) (DBusObject) -> DBusObject = LibDBus.function(
    "dbus_connection_pop_message")
let dbus_connection_send: @convention(c) (DBusObject, DBusObject, UnsafeMutablePointer<UInt32>?) -> dbus_bool_t =
    LibDBus.function("dbus_connection_send")
let dbus_connection_set_dispatch_status_function:
    @convention(c) (DBusObject, DBusDispatchStatusFunction?, DBusMemory, DBusFreeFunction?) -> Void = LibDBus.function(
        "dbus_connection_set_dispatch_status_function")
let dbus_connection_set_wakeup_main_function:
    @convention(c) (DBusObject, DBusWakeupMainFunction?, DBusMemory, DBusFreeFunction?) -> Void = LibDBus.function(
        "dbus_connection_set_wakeup_main_function")
let dbus_connection_set_watch_functions:
    @convention(c) (
        DBusObject, DBusAddWatchFunction?, DBusWatchFunction?, DBusWatchFunction?, DBusMemory, DBusFreeFunction?
    ) -> dbus_bool_t = LibDBus.function("dbus_connection_set_watch_functions")
let dbus_bus_set_unique_name: @convention(c) (DBusObject, DBusText) -> dbus_bool_t = LibDBus.function(
    "dbus_bus_set_unique_name")
let dbus_watch_get_enabled: @convention(c) (DBusObject) -> dbus_bool_t = LibDBus.function("dbus_watch_get_enabled")
let dbus_watch_get_flags: @convention(c) (DBusObject) -> CUnsignedInt = LibDBus.function("dbus_watch_get_flags")
let dbus_watch_handle: @convention(c) (DBusObject, CUnsignedInt) -> dbus_bool_t = LibDBus.function("dbus_watch_handle")

// MARK: Messages

let dbus_message_new_method_call: @convention(c) (DBusText, DBusText, DBusText, DBusText) -> DBusObject =
    LibDBus.function("dbus_message_new_method_call")
let dbus_message_new_method_return: @convention(c) (DBusObject) -> DBusObject = LibDBus.function(
    "dbus_message_new_method_return")
let dbus_message_new_error: @convention(c) (DBusObject, DBusText, DBusText) -> DBusObject = LibDBus.function(
    "dbus_message_new_error")
let dbus_message_new_signal: @convention(c) (DBusText, DBusText, DBusText) -> DBusObject = LibDBus.function(
    "dbus_message_new_signal")
let dbus_message_unref: @convention(c) (DBusObject) -> Void = LibDBus.function("dbus_message_unref")
let dbus_message_get_type: @convention(c) (DBusObject) -> CInt = LibDBus.function("dbus_message_get_type")
let dbus_message_get_path: @convention(c) (DBusObject) -> DBusText = LibDBus.function("dbus_message_get_path")
let dbus_message_get_interface: @convention(c) (DBusObject) -> DBusText = LibDBus.function("dbus_message_get_interface")
let dbus_message_get_member: @convention(c) (DBusObject) -> DBusText = LibDBus.function("dbus_message_get_member")
let dbus_message_get_error_name: @convention(c) (DBusObject) -> DBusText = LibDBus.function(
    "dbus_message_get_error_name")
let dbus_message_get_sender: @convention(c) (DBusObject) -> DBusText = LibDBus.function("dbus_message_get_sender")
let dbus_message_get_destination: @convention(c) (DBusObject) -> DBusText = LibDBus.function(
    "dbus_message_get_destination")
let dbus_message_get_signature: @convention(c) (DBusObject) -> DBusText = LibDBus.function("dbus_message_get_signature")
let dbus_message_get_no_reply: @convention(c) (DBusObject) -> dbus_bool_t = LibDBus.function(
    "dbus_message_get_no_reply")
let dbus_message_get_reply_serial: @convention(c) (DBusObject) -> UInt32 = LibDBus.function(
    "dbus_message_get_reply_serial")
let dbus_message_set_destination: @convention(c) (DBusObject, DBusText) -> dbus_bool_t = LibDBus.function(
    "dbus_message_set_destination")
let dbus_message_set_no_reply: @convention(c) (DBusObject, dbus_bool_t) -> Void = LibDBus.function(
    "dbus_message_set_no_reply")
let dbus_message_set_serial: @convention(c) (DBusObject, UInt32) -> Void = LibDBus.function("dbus_message_set_serial")

// MARK: Reading arguments

let dbus_message_iter_init: @convention(c) (DBusObject, DBusMemory) -> dbus_bool_t = LibDBus.function(
    "dbus_message_iter_init")
let dbus_message_iter_next: @convention(c) (DBusMemory) -> dbus_bool_t = LibDBus.function("dbus_message_iter_next")
let dbus_message_iter_recurse: @convention(c) (DBusMemory, DBusMemory) -> Void = LibDBus.function(
    "dbus_message_iter_recurse")
let dbus_message_iter_get_arg_type: @convention(c) (DBusMemory) -> CInt = LibDBus.function(
    "dbus_message_iter_get_arg_type")
let dbus_message_iter_get_element_type: @convention(c) (DBusMemory) -> CInt = LibDBus.function(
    "dbus_message_iter_get_element_type")
let dbus_message_iter_get_signature: @convention(c) (DBusMemory) -> UnsafeMutablePointer<CChar>? = LibDBus.function(
    "dbus_message_iter_get_signature")
let dbus_message_iter_get_basic: @convention(c) (DBusMemory, DBusMemory) -> Void = LibDBus.function(
    "dbus_message_iter_get_basic")
let dbus_message_iter_get_fixed_array: @convention(c) (DBusMemory, DBusMemory, UnsafeMutablePointer<CInt>?) -> Void =
    LibDBus.function("dbus_message_iter_get_fixed_array")

// MARK: Appending arguments

let dbus_message_iter_init_append: @convention(c) (DBusObject, DBusMemory) -> Void = LibDBus.function(
    "dbus_message_iter_init_append")
let dbus_message_iter_append_basic: @convention(c) (DBusMemory, CInt, UnsafeRawPointer?) -> dbus_bool_t =
    LibDBus.function("dbus_message_iter_append_basic")
let dbus_message_iter_append_fixed_array: @convention(c) (DBusMemory, CInt, UnsafeRawPointer?, CInt) -> dbus_bool_t =
    LibDBus.function("dbus_message_iter_append_fixed_array")
let dbus_message_iter_open_container: @convention(c) (DBusMemory, CInt, DBusText, DBusMemory) -> dbus_bool_t =
    LibDBus.function("dbus_message_iter_open_container")
let dbus_message_iter_close_container: @convention(c) (DBusMemory, DBusMemory) -> dbus_bool_t = LibDBus.function(
    "dbus_message_iter_close_container")
let dbus_message_iter_abandon_container: @convention(c) (DBusMemory, DBusMemory) -> Void = LibDBus.function(
    "dbus_message_iter_abandon_container")

// MARK: The library

let dbus_threads_init_default: @convention(c) () -> dbus_bool_t = LibDBus.function("dbus_threads_init_default")
let dbus_error_init: @convention(c) (DBusMemory) -> Void = LibDBus.function("dbus_error_init")
let dbus_error_free: @convention(c) (DBusMemory) -> Void = LibDBus.function("dbus_error_free")
let dbus_free: @convention(c) (DBusMemory) -> Void = LibDBus.function("dbus_free")
#endif
