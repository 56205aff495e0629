#if os(Linux)
/// Deadlines, pauses and limits of the central role.
///
/// Every call on the bus has a deadline.
struct BlueZTimings: Sendable {
    /// The deadline for the bus to start the daemon.
    ///
    /// BlueZ pitfall: activation may never complete
    /// (https://github.com/Bluetooth-Devices/bleak-retry-connector/issues/78).
    var activation = Duration.seconds(8)
    /// The deadline for the daemon to list all its objects.
    var snapshot = Duration.seconds(30)
    /// The pause before the next attempt to list the objects.
    var snapshotRetry = Duration.seconds(3)
    /// The deadline of `Device1.Connect`; the kernel itself gives up after 40 s.
    var connect = Duration.seconds(60)
    /// The pause after the first failed connect; doubles up to `connectRetryLimit`.
    var connectRetry = Duration.milliseconds(250)
    var connectRetryLimit = Duration.seconds(4)
    /// The deadline of `Device1.Disconnect`, which takes 2 s normally, and never returns on some daemons.
    var disconnect = Duration.seconds(10)
    /// The time after which another program's link is joined; longer than an abandoned link lives.
    var foreignLinkGrace = Duration.milliseconds(2500)
    /// The deadline of an ATT operation; that of bluetoothd is 30 s, and pairing may come first.
    var attribute = Duration.seconds(60)
    /// The pause before an operation on a busy attribute is tried again.
    var attributeRetry = Duration.milliseconds(20)
    /// The limit of these retries.
    var attributeRetries = 500
    /// The deadline of `Device1.Pair`: the user may take a minute, and the link is made first.
    var pairing = Duration.seconds(120)
    /// The deadline for bluetoothd to switch `Pairable` after our agent was registered or unregistered.
    var agentChange = Duration.seconds(1)
    /// The deadline from the link to `ServicesResolved`.
    var resolution = Duration.seconds(45)
    /// The wait for services that `ServicesResolved` announced, before all objects are read again.
    var awaitingServices = Duration.milliseconds(1500)
    /// The period in which changes of services are collected.
    var serviceChanges = Duration.milliseconds(250)
    /// The deadline of a discovery call.
    var discovery = Duration.seconds(15)
    /// The pause before the next attempt after a discovery call failed.
    var discoveryRetry = Duration.seconds(1)
    /// The time that the link of a bonded peer must survive a new pairing before the pairing counts as complete.
    var rebondConfirmation = Duration.seconds(1)
    /// The wait of a lost link for a loss of power that would explain it.
    ///
    /// bluetoothd reports the links first, and the power about 10 ms later.
    var powerLoss = Duration.milliseconds(300)
    /// The wait for a loss of power that bluetoothd has announced: the longest time that a controller needs to end all
    /// links.
    var turningOff = Duration.seconds(10)
    /// The wait of a failed operation for the end of its link.
    var linkLoss = Duration.seconds(2)
    /// The deadline for a daemon without adapters to export one.
    var initialAdapterTimeout = Duration.seconds(1)
    /// The wait for a vanished adapter to return, before it counts as absent.
    var adapterReturnTimeout = Duration.seconds(5)
    /// The wait for a vanished daemon to return; some systems are slow to restart it.
    var daemonReturnTimeout = Duration.seconds(30)
}
#endif
