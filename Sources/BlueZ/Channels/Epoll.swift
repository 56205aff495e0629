#if os(Linux)
import BluetoothDBus
import Glibc

/// An `epoll(7)` descriptor, which is readable while one of several sockets is.
///
/// Swift's module of glibc omits its functions.
struct Epoll {
    private typealias Create = @convention(c) (CInt) -> CInt
    private typealias Control = @convention(c) (CInt, CInt, CInt, UnsafeMutableRawPointer?) -> CInt

    private static let create = dlsym(nil, "epoll_create1").map { unsafeBitCast($0, to: Create.self) }
    private static let control = dlsym(nil, "epoll_ctl").map { unsafeBitCast($0, to: Control.self) }
    static let addOperation: CInt = 1
    static let deleteOperation: CInt = 2
    static let readable: UInt32 = 1

    /// A `struct epoll_event`: the events, then data, which is not used, with or without padding in between.
    typealias Event = (events: UInt32, UInt32, UInt64)

    let descriptor: DBusFileDescriptor

    /// - Throws: `LimitsExceeded` if the process has no descriptor left.
    init() throws(DBusError) {
        descriptor = try DBusFileDescriptor(created: Self.create?(O_CLOEXEC) ?? -1)
    }

    /// Adds a socket; ``remove(_:)`` must be called before it is closed.
    ///
    /// - Throws: `LimitsExceeded` if the kernel has no memory for it.
    func add(_ socket: CInt) throws(DBusError) {
        var event: Event = (Self.readable, 0, 0)
        guard Self.control?(descriptor.rawValue, Self.addOperation, socket, &event) == 0 else {
            throw .exhausted("epoll watches")
        }
    }

    /// Removes a socket.
    func remove(_ socket: CInt) {
        // Fails only for a socket that was not added.
        _ = Self.control?(descriptor.rawValue, Self.deleteOperation, socket, nil)
    }
}
#endif
