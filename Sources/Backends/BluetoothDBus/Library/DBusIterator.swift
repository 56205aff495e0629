#if os(Linux)
/// A position among a message's arguments, at which they are read or appended.
///
/// The type stores a `DBusMessageIter`, whose fields are private to libdbus.
///
/// The memory belongs to Swift, and the C header asserts its size: the layout of public values that contain it must not
/// depend on the C module.
struct DBusIterator {
    private var reserved: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0)

    /// Creates an iterator without a position.
    init() {}

    /// Creates an iterator at the first argument.
    init(reading message: OpaquePointer) {
        _ = withC { dbus_message_iter_init(message, $0) }
    }

    /// Creates an iterator behind the last argument.
    init(appendingTo message: OpaquePointer) {
        withC { dbus_message_iter_init_append(message, $0) }
    }

    private mutating func withC<Result>(_ body: (UnsafeMutablePointer<DBusMessageIter>) -> Result) -> Result {
        withUnsafeMutablePointer(to: &self) { $0.withMemoryRebound(to: DBusMessageIter.self, capacity: 1, body) }
    }

    // MARK: Reading

    /// The type code of the argument; zero at the end.
    var code: UInt8 {
        mutating get { UInt8(truncatingIfNeeded: withC { dbus_message_iter_get_arg_type($0) }) }
    }

    /// The type code of an array's elements.
    var elementCode: UInt8 {
        mutating get { UInt8(truncatingIfNeeded: withC { dbus_message_iter_get_element_type($0) }) }
    }

    /// The signature of the argument; nil if no memory is left.
    var signature: String? {
        mutating get {
            guard let text = withC({ dbus_message_iter_get_signature($0) }) else { return nil }
            defer { dbus_free(text) }
            return String(cString: text)
        }
    }

    /// Advances to the next argument.
    mutating func next() {
        _ = withC { dbus_message_iter_next($0) }
    }

    /// Returns the position of the first element of the container at this position.
    mutating func content() -> DBusIterator {
        var content = DBusIterator()
        withC { this in content.withC { dbus_message_iter_recurse(this, $0) } }
        return content
    }

    /// Copies a number, or a pointer to a string that the message owns.
    ///
    /// - Parameter value: Memory with the size of the argument.
    mutating func copyBasic(to value: UnsafeMutableRawPointer) {
        withC { dbus_message_iter_get_basic($0, value) }
    }

    /// The remaining elements of the entered array of bytes, which the message owns.
    mutating func bytes() -> UnsafeBufferPointer<UInt8> {
        var start: UnsafePointer<UInt8>?
        var count: CInt = 0
        withC { dbus_message_iter_get_fixed_array($0, &start, &count) }
        return UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(count))
    }

    // MARK: Appending; false means that no memory is left

    /// Appends a number, or a string by a pointer to it.
    mutating func appendBasic(_ code: Unicode.Scalar, _ value: UnsafeRawPointer) -> Bool {
        withC { dbus_message_iter_append_basic($0, CInt(code.value), value) } != 0
    }

    /// Appends elements to the opened array of bytes.
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return true }
        return withUnsafePointer(to: base) { base in
            withC { dbus_message_iter_append_fixed_array($0, CInt(UInt8(ascii: "y")), base, CInt(bytes.count)) }
        } != 0
    }

    /// Opens a container, whose elements are appended with `content`.
    mutating func open(
        _ code: Unicode.Scalar, _ signature: UnsafePointer<CChar>?, _ content: inout DBusIterator
    ) -> Bool {
        withC { this in
            content.withC { dbus_message_iter_open_container(this, CInt(code.value), signature, $0) }
        } != 0
    }

    /// Closes the container that was opened last.
    mutating func close(_ content: inout DBusIterator) -> Bool {
        withC { this in content.withC { dbus_message_iter_close_container(this, $0) } } != 0
    }

    /// Abandons the container that was opened last, and thereby the message.
    mutating func abandon(_ content: inout DBusIterator) {
        withC { this in content.withC { dbus_message_iter_abandon_container(this, $0) } }
    }
}
#endif
