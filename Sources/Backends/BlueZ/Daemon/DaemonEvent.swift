#if os(Linux)
/// A client of ``BlueZDaemon``, which receives its events on the daemon's queue.
protocol DaemonClient: AnyObject, Sendable {
    func receive(_ event: DaemonEvent)
}

/// An event that ``BlueZDaemon`` reports to its clients.
enum DaemonEvent: Sendable {
    case phase(DaemonPhase)
    /// The objects changed; the model contains the changes already.
    case changed([ObjectModel.Change])
    /// All objects were read again, with these differences from the model; the phase `ready` precedes it.
    case snapshot([ObjectModel.Change])
}

/// The availability of `bluetoothd`.
enum DaemonPhase: Equatable, Sendable {
    /// Not determined yet.
    case probing
    /// No bus is available, or no program provides `org.bluez`.
    case absent
    /// The bus or its policy refuses this process.
    case denied
    /// The daemon or the bus is gone, and is expected to return.
    case lost
    /// The daemon is available, and its objects are known.
    case ready
}
#endif
