#if os(Linux)
import BluetoothSupport

/// The part of a connection that libdbus calls: its watches on the socket, and its requests for attention.
///
/// libdbus retains the object, once for each set of callbacks, and releases it when it drops the callbacks. So every
/// call finds the object, however late it is: libdbus disables its watch while 63 MB of messages are alive, and enables
/// it again when one of these is released, on any thread.
// Invariant: the comment of each variable states its own.
final class ConnectionCallbacks: @unchecked Sendable {
    let poller: SocketPoller
    /// Whether libdbus has requested that its messages be handled.
    // Invariant: set by libdbus during calls that are made under the lock of the connection's state, and used under it.
    var wakeIsWanted = false
    /// The watches, under a lock of their own, because libdbus enables them on any thread.
    private let watches = LockedState<[OpaquePointer]>([])

    init(poller: SocketPoller) { self.poller = poller }

    /// Makes a connection call the object; returns false if no memory is left.
    func install(on connection: OpaquePointer) -> Bool {
        dbus_connection_set_wakeup_main_function(
            connection, { ConnectionCallbacks.from($0)?.wakeIsWanted = true }, retained(), Self.release)
        dbus_connection_set_dispatch_status_function(
            connection,
            { _, status, data in
                if status == DBUS_DISPATCH_DATA_REMAINS { ConnectionCallbacks.from(data)?.wakeIsWanted = true }
            }, retained(), Self.release)
        let watcher = retained()
        let isWatching = dbus_connection_set_watch_functions(
            connection,
            { watch, data in
                guard let watch, let callbacks = ConnectionCallbacks.from(data) else { return 0 }
                callbacks.changeWatches { $0.append(watch) }
                return 1
            },
            { watch, data in ConnectionCallbacks.from(data)?.changeWatches { $0.removeAll { $0 == watch } } },
            { _, data in ConnectionCallbacks.from(data)?.changeWatches { _ in } },
            watcher, Self.release)
        // libdbus takes nothing over if it fails.
        if isWatching == 0 { Self.release(watcher) }
        return isWatching != 0
    }

    /// Makes a connection drop its callbacks.
    static func remove(from connection: OpaquePointer) {
        dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
        dbus_connection_set_wakeup_main_function(connection, nil, nil, nil)
        _ = dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
    }

    private func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    private static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        if let data { Unmanaged<ConnectionCallbacks>.fromOpaque(data).release() }
    }

    private static func from(_ data: UnsafeMutableRawPointer?) -> ConnectionCallbacks? {
        data.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Watches

    /// Makes a change, and waits for what libdbus waits for then: it also enables and disables its watches.
    private func changeWatches(_ change: (inout [OpaquePointer]) -> Void) {
        watches.withLock { watches in
            change(&watches)
            poller.wait(for: watches.reduce(into: []) { $0.formUnion(Self.events(of: $1)) })
        }
    }

    /// The events for which a watch of libdbus waits.
    private static func events(of watch: OpaquePointer) -> SocketPoller.Events {
        guard dbus_watch_get_enabled(watch) != 0 else { return [] }
        let flags = dbus_watch_get_flags(watch)
        var events: SocketPoller.Events = []
        if flags & DBUS_WATCH_READABLE != 0 { events.insert(.readable) }
        if flags & DBUS_WATCH_WRITABLE != 0 { events.insert(.writable) }
        return events
    }

    /// Lets libdbus read and write.
    ///
    /// Called under the lock of the connection's state: libdbus adds and removes watches only during calls under it.
    func handle(_ events: SocketPoller.Events) {
        let failures = events.intersection([.error, .hangup])
        for watch in currentWatches {
            // An earlier iteration may have removed or disabled it.
            guard currentWatches.contains(watch) else { continue }
            let wanted = Self.events(of: watch)
            let ready = events.intersection(wanted)
            if !wanted.isEmpty, !(ready.isEmpty && failures.isEmpty) {
                _ = dbus_watch_handle(watch, ready.union(failures).watchFlags)
            }
        }
    }

    private var currentWatches: [OpaquePointer] { watches.withLock { $0 } }
}

extension SocketPoller.Events {
    /// The flags of libdbus.
    fileprivate var watchFlags: CUnsignedInt {
        var flags: CUnsignedInt = 0
        if contains(.readable) { flags |= DBUS_WATCH_READABLE }
        if contains(.writable) { flags |= DBUS_WATCH_WRITABLE }
        if contains(.error) { flags |= DBUS_WATCH_ERROR }
        if contains(.hangup) { flags |= DBUS_WATCH_HANGUP }
        return flags
    }
}
#endif
