#if os(Linux)
/// Who hears of the daemon and its objects.
protocol DaemonListener: AnyObject, Sendable {
    /// Takes in what the daemon told, in order; on the daemon's queue.
    func process(_ inputs: HostInput...)
}
#endif
