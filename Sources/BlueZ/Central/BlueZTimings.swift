#if os(Linux)
/// How long things may take.
///
/// Nothing is asked of the bus without a deadline.
struct BlueZTimings: Sendable {
    /// How long the bus may take to start the daemon.
    ///
    /// BlueZ pitfall: activation may never complete
    /// (https://github.com/Bluetooth-Devices/bleak-retry-connector/issues/78).
    var activation = Duration.seconds(8)
    /// How long the daemon may take to list all its objects.
    var snapshot = Duration.seconds(30)
    /// The pause before it is asked again.
    var snapshotRetry = Duration.seconds(3)
    /// `Device1.Connect`: the kernel gives up after 20 to 40 s by itself.
    var connect = Duration.seconds(60)
    /// How long one connect may keep the others waiting.
    var connectTurn = Duration.seconds(10)
    /// The pause after the first failed connect; doubles up to `connectRetryLimit`.
    var connectRetry = Duration.milliseconds(250)
    var connectRetryLimit = Duration.seconds(4)
    /// `Device1.Disconnect` takes 2 s when all is well, and on some daemons for ever.
    var disconnect = Duration.seconds(10)
    /// How long another program's link must live on before it is joined: longer than one that is being given up.
    var foreignLinkGrace = Duration.milliseconds(2500)
    /// ATT operations: bluetoothd's own deadline is 30 s, and pairing may come first.
    var attribute = Duration.seconds(60)
    /// The pause before an attribute that was busy is tried again.
    var attributeRetry = Duration.milliseconds(20)
    /// How often that is done.
    var attributeRetries = 500
    /// `Device1.Pair`: the user may take a minute, and the link has to be made first.
    var pairing = Duration.seconds(120)
    /// How long bluetoothd may take to switch `Pairable` after our agent came or went.
    var agentChange = Duration.seconds(1)
    /// From the link to `ServicesResolved`.
    var resolution = Duration.seconds(45)
    /// How long to wait for services that `ServicesResolved` promised, before all objects are read anew.
    var awaitingServices = Duration.milliseconds(1500)
    /// How long changes of services are collected.
    var serviceChanges = Duration.milliseconds(250)
    /// Discovery calls.
    var discovery = Duration.seconds(15)
    /// The pause before a failed discovery call is tried again.
    var discoveryRetry = Duration.seconds(1)
    /// How long the link of a bonded peer that paired anew must live on, for the pairing to count as done.
    var rebondConfirmation = Duration.seconds(1)
    /// How long a lost link waits for a loss of power that would explain it.
    ///
    /// bluetoothd reports the links first, and the power some 10 ms later.
    var powerLoss = Duration.milliseconds(300)
    /// How long what ends waits for a loss of power that bluetoothd has announced: as long as the controller may need to end
    /// all links.
    var turningOff = Duration.seconds(10)
    /// How long a failed operation waits for the end of its link.
    var linkLoss = Duration.seconds(2)
    /// How long a daemon without adapters may have one yet.
    var initialAdapterTimeout = Duration.seconds(1)
    /// How long a vanished adapter is expected back before it counts as absent.
    var adapterReturnTimeout = Duration.seconds(5)
    /// The same for the daemon, which some systems take their time to start again.
    var daemonReturnTimeout = Duration.seconds(30)
}
#endif
