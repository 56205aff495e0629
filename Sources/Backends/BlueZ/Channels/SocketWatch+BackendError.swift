#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import Dispatch

extension SocketWatch {
    /// Takes over a socket for an operation of the backend, which fails if the process has no descriptor left.
    ///
    /// - Throws: `outOfSpace`; the socket is closed then.
    convenience init(
        adopting socket: CInt, for operation: String, queue: DispatchQueue, readable: @escaping @Sendable () -> Void,
        writable: @escaping @Sendable () -> Void = {}
    ) throws(BackendError) {
        do throws(DBusError) {
            try self.init(
                adopting: DBusFileDescriptor(adopting: socket), queue: queue, readable: readable, writable: writable)
        } catch {
            throw BackendError(.outOfSpace, operation: operation, message: error.message)
        }
    }
}
#endif
