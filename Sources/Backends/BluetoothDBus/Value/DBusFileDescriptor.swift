#if os(Linux)
import Synchronization
import Glibc

/// The owner of a file descriptor, received in a message or to be sent in one; the last reference closes it.
///
/// Values are equal only if they are the same object. Any thread.
public final class DBusFileDescriptor: Hashable, Sendable, CustomStringConvertible {
    private static let taken: CInt = -1
    private let descriptor: Atomic<CInt>

    /// Takes ownership of a descriptor, which no other code may close.
    public init(adopting descriptor: CInt) {
        self.descriptor = Atomic(descriptor)
    }

    /// Takes ownership of a descriptor that a system call has created.
    ///
    /// - Throws: `LimitsExceeded` if it is negative, because the process has none left.
    package convenience init(created descriptor: CInt) throws(DBusError) {
        guard descriptor >= 0 else { throw .exhausted("descriptors") }
        self.init(adopting: descriptor)
    }

    /// Returns two connected sockets that preserve packets, like those of `AcquireNotify` and `AcquireWrite`; neither
    /// blocks.
    ///
    /// - Throws: `LimitsExceeded` if this process has no descriptors left.
    package static func packetSockets() throws(DBusError) -> (DBusFileDescriptor, DBusFileDescriptor) {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .exhausted("descriptors") }
        return (DBusFileDescriptor(adopting: ends[0]), DBusFileDescriptor(adopting: ends[1]))
    }

    deinit {
        let open = descriptor.load(ordering: .acquiring)
        if open >= 0 { close(open) }
    }

    /// The descriptor, or -1 after ``release()``; valid while this object lives.
    public var rawValue: CInt { descriptor.load(ordering: .acquiring) }

    /// Gives up the ownership of the descriptor, which the caller must then close; `nil` from the second call on.
    public func release() -> CInt? {
        let open = descriptor.exchange(Self.taken, ordering: .acquiringAndReleasing)
        return open >= 0 ? open : nil
    }

    /// Whether both are the same object.
    public static func == (left: DBusFileDescriptor, right: DBusFileDescriptor) -> Bool {
        left === right
    }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }

    /// The descriptor's number, for logs.
    public var description: String { "fd \(rawValue)" }
}
#endif
