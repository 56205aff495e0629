#if os(Linux)
/// The daemon and the adapter that managers use, and the pairings that this process accepts.
public struct BlueZConfiguration: Hashable, Sendable {
    /// A method by which `bluetoothd` passes on the values of notifications and indications.
    ///
    /// Source: BlueZ, `org.bluez.GattCharacteristic1`.
    public enum NotificationMethod: Hashable, Sendable, CaseIterable {
        /// `StartNotify`: each value is a message on the bus. Values, responses and the end of the link arrive in the order
        /// in which they occurred, and several programs may subscribe.
        case startNotify
        /// `AcquireNotify`: the values of a characteristic arrive on a socket.
        ///
        /// This takes less processor time in this process, and far less in the bus and in `bluetoothd`, but:
        ///
        /// - While this app is subscribed, no other program can subscribe to the characteristic.
        /// - The order of values relative to those of other characteristics and to responses is lost. All values that
        ///   were received before the end of the link are delivered before the disconnection.
        /// - `bluetoothd` drops values if this process leaves about 170 to 280 of them unread.
        /// - Some versions of `bluetoothd` crashed when a link ended while a socket was open.
        ///
        /// If `bluetoothd` provides no socket, for instance because another program is subscribed, ``startNotify`` is
        /// used.
        case acquireNotify
    }

    /// The message bus of `bluetoothd`, in the notation of the D-Bus Specification (`unix:path=…`).
    ///
    /// nil selects the system bus: `DBUS_SYSTEM_BUS_ADDRESS`, or the well-known socket.
    public var busAddress: String?
    /// The adapter of managers that name no adapter: `hci1` or an address.
    ///
    /// nil selects the first adapter that is powered on.
    public var adapter: String?
    /// Whether this process accepts pairings without a number (Just Works) that it needs itself.
    ///
    /// It accepts them only if no one else is asked: the app has no `CBPairingAgent`, and the system has no default
    /// agent such as a desktop's.
    ///
    /// A pairing is needed by a connection that a `CBCentralManager` of this process has or makes, and, with any
    /// connected central, while a `CBPeripheralManager` publishes an attribute that requires encryption. With `true`
    /// every such peer bonds without a question, and a third party may listen and alter messages; use it for devices
    /// that pair in a protected place. With `false` such pairings are refused. In both cases nothing else is accepted,
    /// and no device is marked as trusted.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.3.5.1; BlueZ, `org.bluez.Agent1.RequestAuthorization`.
    public var acceptsJustWorksPairing: Bool
    /// The method by which the values of notifications and indications reach the peripherals of `CBCentralManager`.
    public var notificationMethod: NotificationMethod

    /// Creates a configuration; without arguments, one for the system's bus and any adapter.
    ///
    /// - Parameters:
    ///   - busAddress: See ``busAddress``.
    ///   - adapter: See ``adapter``.
    ///   - acceptsJustWorksPairing: See ``acceptsJustWorksPairing``.
    ///   - notificationMethod: See ``notificationMethod-swift.property``.
    public init(
        busAddress: String? = nil, adapter: String? = nil, acceptsJustWorksPairing: Bool = false,
        notificationMethod: NotificationMethod = .startNotify
    ) {
        self.busAddress = busAddress
        self.adapter = adapter
        self.acceptsJustWorksPairing = acceptsJustWorksPairing
        self.notificationMethod = notificationMethod
    }
}
#endif
