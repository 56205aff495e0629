#if os(Linux)
/// Where BlueZ is to be found, and what this process agrees to there.
public struct BlueZConfiguration: Hashable, Sendable {
    /// How `bluetoothd` passes on the values of notifications and indications.
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
        /// - Values are in no order with those of other characteristics and with responses. All values that were received
        ///   before the end of the link are delivered before the disconnection.
        /// - `bluetoothd` drops values if this process leaves about 170 to 280 of them unread.
        /// - Some versions of `bluetoothd` have crashed when a link ended meanwhile.
        ///
        /// If `bluetoothd` gives no socket, for instance because another program is subscribed, ``startNotify`` is used.
        case acquireNotify
    }

    /// The message bus of `bluetoothd`, in the notation of the D-Bus Specification (`unix:path=…`).
    ///
    /// nil takes the system bus: `DBUS_SYSTEM_BUS_ADDRESS`, or the well-known socket.
    public var busAddress: String?
    /// The adapter of managers that name none: `hci1` or an address.
    ///
    /// Without one, it is the first that is on.
    public var adapter: String?
    /// Whether this process agrees to pairings without a number (Just Works) that it needs itself, where no one else is
    /// asked: the app has no `CBPairingAgent`, and the system has no default agent such as a desktop's.
    ///
    /// A pairing is needed by a connection that a `CBCentralManager` of this process has or makes, and, with any central
    /// that is connected, while a `CBPeripheralManager` publishes something that requires encryption. With `true` every
    /// such peer bonds unasked, and a third party may listen and speak in between; it suits devices that pair in a
    /// protected place. With `false` such pairings are refused. Either way nothing else is agreed to, and no device is
    /// marked as trusted.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.3.5.1; BlueZ, `org.bluez.Agent1.RequestAuthorization`.
    public var acceptsJustWorksPairing: Bool
    /// How the values of notifications and indications are passed on to `CBCentralManager`'s peripherals.
    public var notificationMethod: NotificationMethod

    /// Describes where BlueZ is to be found; without arguments, where it is on every Linux system.
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
