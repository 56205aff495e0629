#if os(Linux)
import BluetoothBackend

/// The way to a controller past `bluetoothd`: the kernel's, or a test's.
protocol ControllerAccess: Sendable {
    /// Whether there is such a way here at all.
    var isAvailable: Bool { get }

    /// A socket that takes commands of the host controller interface and gives the events that answer Read RSSI.
    ///
    /// Non-blocking, a packet each; the caller's to close.
    func open(_ adapter: UInt16) throws(BackendError) -> CInt

    /// The controller's number for the link to a peer.
    func handle(of peer: L2CAPAddress, on socket: CInt) throws(BackendError) -> UInt16
}
#endif
