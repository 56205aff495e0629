#if os(Linux)
import BluetoothBackend

/// Where the sockets of L2CAP channels come from: the kernel, or a test.
///
/// All sockets are non-blocking, keep the bounds of packets, and are the caller's to close.
protocol ChannelNetwork: Sendable {
    /// Whether there are such sockets here at all.
    var isAvailable: Bool { get }

    /// Begins to connect; the socket becomes writable when that is over, well or not.
    func connect(from local: L2CAPAddress, to peer: L2CAPAddress) throws(BackendError) -> CInt

    /// Why a connect failed that is over; nil where it did not.
    func failure(of socket: CInt) -> BackendError?

    /// Listens; the channel's number is the kernel's choice.
    func listen(
        at local: L2CAPAddress, isEncryptionRequired: Bool
    ) throws(BackendError) -> (socket: CInt, psm: UInt16)

    /// Takes the next channel that a peer opened; nil where none waits.
    func accept(_ listener: CInt) throws(BackendError) -> (socket: CInt, peer: L2CAPAddress)?

    /// The longest packet that the peer takes, in bytes.
    func sendLimit(of socket: CInt) -> Int

    /// How full the kernel's buffer for sending is, in whatever unit: it is empty when it says what it said at first.
    func backlog(of socket: CInt) -> CInt
}
#endif
