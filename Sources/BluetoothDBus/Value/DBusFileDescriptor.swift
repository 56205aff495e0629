#if os(Linux)
import Synchronization
import Glibc

/// One owned file descriptor, received in a message or about to be sent in one; closed with the last reference.
///
/// Values are equal only if they are the same object. Any thread.
public final class DBusFileDescriptor: Hashable, Sendable, CustomStringConvertible {
    private static let taken: CInt = -1
    private let descriptor: Atomic<CInt>

    /// Takes over a descriptor: nobody else may close it.
    public init(adopting descriptor: CInt) {
        self.descriptor = Atomic(descriptor)
    }

    deinit {
        let open = descriptor.load(ordering: .acquiring)
        if open >= 0 { close(open) }
    }

    /// The descriptor, or -1 once it was taken; valid while this object lives.
    public var rawValue: CInt { descriptor.load(ordering: .acquiring) }

    /// Hands the descriptor over to the caller, who then has to close it; `nil` from the second time on.
    public func take() -> CInt? {
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
