#if os(Linux)
/// Where BlueZ is to be found, and what this process agrees to there.
public struct BlueZConfiguration: Hashable, Sendable {
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

    /// Describes where BlueZ is to be found; without arguments, where it is on every Linux system.
    ///
    /// - Parameters:
    ///   - busAddress: See ``busAddress``.
    ///   - adapter: See ``adapter``.
    ///   - acceptsJustWorksPairing: See ``acceptsJustWorksPairing``.
    public init(busAddress: String? = nil, adapter: String? = nil, acceptsJustWorksPairing: Bool = false) {
        self.busAddress = busAddress
        self.adapter = adapter
        self.acceptsJustWorksPairing = acceptsJustWorksPairing
    }
}
#endif
