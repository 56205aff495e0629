#if os(Linux)
/// A client of ``BlueZDaemon``, which receives its events on the daemon's queue.
protocol DaemonClient: AnyObject, Sendable {
    func receive(_ event: DaemonEvent)
}

/// An event that ``BlueZDaemon`` reports to its clients.
enum DaemonEvent: Sendable {
    case phase(DaemonPhase)
    /// The objects changed; the model has the changes already.
    case changed([ObjectModel.Change])
    /// All objects were read anew, and these differ from what was known; the phase `ready` comes before it.
    case snapshot([ObjectModel.Change])
}

/// What `bluetoothd` is to us.
enum DaemonPhase: Equatable, Sendable {
    /// Not known yet.
    case probing
    /// There is no bus, or no program provides `org.bluez`.
    case absent
    /// The bus or its policy refuses us.
    case denied
    /// It was there, and is expected back.
    case lost
    /// It is there, and its objects are known.
    case ready
}
#endif
