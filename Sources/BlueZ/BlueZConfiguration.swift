#if os(Linux)
/// Where BlueZ is to be found.
public struct BlueZConfiguration: Hashable, Sendable {
    /// The message bus of `bluetoothd`, in the notation of the D-Bus Specification (`unix:path=…`).
    ///
    /// nil takes the system bus: `DBUS_SYSTEM_BUS_ADDRESS`, or the well-known socket.
    public var busAddress: String?
    /// The adapter of managers that name none: `hci1` or an address.
    ///
    /// Without one, it is the first that is on.
    public var adapter: String?
    /// Whether this process agrees to pairings that its own links need, while the app has no `CBPairingAgent`.
    ///
    /// It is then BlueZ's default agent, a device without display and keyboard. With `false` that is left to the agents of
    /// the system, such as a desktop's; where there is none, protected attributes cannot be used.
    public var answersPairing: Bool

    /// Describes where BlueZ is to be found; without arguments, where it is on every Linux system.
    public init(busAddress: String? = nil, adapter: String? = nil, answersPairing: Bool = true) {
        self.busAddress = busAddress
        self.adapter = adapter
        self.answersPairing = answersPairing
    }
}
#endif
