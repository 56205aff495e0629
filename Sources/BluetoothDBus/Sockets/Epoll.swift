#if os(Linux)
import Glibc

/// An `epoll(7)` descriptor, which is readable while one of its sockets is ready.
///
/// Swift's module of glibc omits its functions.
package struct Epoll: Sendable {
    /// The events of a socket, to watch for or reported; errors and hangups are always reported.
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: 0x1)
        package static let writable = Events(rawValue: 0x4)
        package static let error = Events(rawValue: 0x8)
        package static let hangup = Events(rawValue: 0x10)
        /// After one report there is none until the next ``modify(_:_:)``.
        package static let once = Events(rawValue: 1 << 30)
    }

    /// A `struct epoll_event`: the events, then data, which is not used, with or without padding in between.
    package typealias Event = (events: UInt32, UInt32, UInt64)

    private typealias Create = @convention(c) (CInt) -> CInt
    private typealias Control = @convention(c) (CInt, CInt, CInt, UnsafeMutableRawPointer?) -> CInt
    private typealias Wait = @convention(c) (CInt, UnsafeMutableRawPointer?, CInt, CInt) -> CInt

    private static let create = dlsym(nil, "epoll_create1").map { unsafeBitCast($0, to: Create.self) }
    private static let control = dlsym(nil, "epoll_ctl").map { unsafeBitCast($0, to: Control.self) }
    private static let wait = dlsym(nil, "epoll_wait").map { unsafeBitCast($0, to: Wait.self) }
    package static let addOperation: CInt = 1
    package static let deleteOperation: CInt = 2
    package static let modifyOperation: CInt = 3

    package let descriptor: DBusFileDescriptor

    /// - Throws: `LimitsExceeded` if the process has no descriptor left.
    package init() throws(DBusError) {
        descriptor = try DBusFileDescriptor(created: Self.create?(O_CLOEXEC) ?? -1)
    }

    /// Adds a socket; ``remove(_:)`` must be called before it is closed.
    ///
    /// - Throws: `LimitsExceeded` if the kernel has no memory for it.
    package func add(_ socket: CInt, _ events: Events = .readable) throws(DBusError) {
        guard call(Self.addOperation, socket, events) else { throw .exhausted("epoll watches") }
    }

    /// Changes what an added socket is watched for.
    package func modify(_ socket: CInt, _ events: Events) {
        // Fails only for a socket that was not added.
        _ = call(Self.modifyOperation, socket, events)
    }

    /// Removes a socket.
    package func remove(_ socket: CInt) {
        // Fails only for a socket that was not added.
        _ = call(Self.deleteOperation, socket, [])
    }

    private func call(_ operation: CInt, _ socket: CInt, _ events: Events) -> Bool {
        var event: Event = (events.rawValue, 0, 0)
        return Self.control?(descriptor.rawValue, operation, socket, &event) == 0
    }

    /// Takes what one ready socket is ready for, without waiting; nil if none is ready.
    package func next() -> Events? {
        var event: Event = (0, 0, 0)
        guard Self.wait?(descriptor.rawValue, &event, 1, 0) == 1 else { return nil }
        return Events(rawValue: event.events)
    }
}
#endif
