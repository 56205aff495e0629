#if os(Linux)
@_implementationOnly import CBluetoothKernel
import Glibc

// Calls that Swift's Glibc module omits. Only this file imports the C module that declares them; see ``LibDBus``.

/// An `epoll(7)` descriptor, which is readable while one of its sockets is ready.
package struct Epoll: Sendable {
    /// The events of a socket, watched or reported; errors and hangups are always reported.
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: EPOLLIN.rawValue)
        package static let writable = Events(rawValue: EPOLLOUT.rawValue)
        package static let error = Events(rawValue: EPOLLERR.rawValue)
        package static let hangup = Events(rawValue: EPOLLHUP.rawValue)
        /// After one report, further events are not reported until the next ``modify(_:_:)``.
        package static let once = Events(rawValue: EPOLLONESHOT.rawValue)
    }

    package let descriptor: DBusFileDescriptor

    /// - Throws: `LimitsExceeded` if the process has no descriptor left.
    package init() throws(DBusError) {
        descriptor = try DBusFileDescriptor(created: epoll_create1(CInt(EPOLL_CLOEXEC)))
    }

    /// Adds a socket; ``remove(_:)`` must be called before it is closed.
    ///
    /// - Throws: `LimitsExceeded` if the kernel has no memory for it.
    package func add(_ socket: CInt, _ events: Events = .readable) throws(DBusError) {
        guard call(EPOLL_CTL_ADD, socket, events) else { throw .exhausted("epoll watches") }
    }

    /// Changes the events for which an added socket is watched.
    package func modify(_ socket: CInt, _ events: Events) {
        // The call fails only for a socket that was not added.
        _ = call(EPOLL_CTL_MOD, socket, events)
    }

    /// Removes a socket.
    package func remove(_ socket: CInt) {
        // The call fails only for a socket that was not added.
        _ = call(EPOLL_CTL_DEL, socket, [])
    }

    private func call(_ operation: CInt, _ socket: CInt, _ events: Events) -> Bool {
        var event = epoll_event(events: events.rawValue, data: epoll_data_t(u64: 0))
        return epoll_ctl(descriptor.rawValue, operation, socket, &event) == 0
    }

    /// Returns the events of one ready socket, without waiting; nil if no socket is ready.
    package func next() -> Events? {
        var event = epoll_event()
        guard epoll_wait(descriptor.rawValue, &event, 1, 0) == 1 else { return nil }
        return Events(rawValue: event.events)
    }
}

extension DBusFileDescriptor {
    /// Creates an `eventfd(2)` that does not block.
    ///
    /// - Throws: `LimitsExceeded` if the process has no descriptor left.
    static func event() throws(DBusError) -> DBusFileDescriptor {
        try DBusFileDescriptor(created: eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)))
    }
}

/// The extensions of `posix_spawn(3)` that glibc declares under `_GNU_SOURCE`.
package enum SpawnExtensions {
    /// The flag that gives the program a separate session.
    package static let ownSession = CInt(POSIX_SPAWN_SETSID)

    /// Prevents the program from inheriting descriptors from `first` on.
    ///
    /// - Parameter actions: A `posix_spawn_file_actions_t`, here a type of the C module.
    package static func closeDescriptors(from first: CInt, _ actions: UnsafeMutableRawPointer) {
        // The call fails only if no memory is left.
        _ = posix_spawn_file_actions_addclosefrom_np(
            actions.assumingMemoryBound(to: posix_spawn_file_actions_t.self), first)
    }
}
#endif
