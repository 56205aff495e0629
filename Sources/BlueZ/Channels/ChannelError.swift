#if os(Linux)
import BluetoothBackend
import Glibc

/// What an error number of an L2CAP socket means.
enum ChannelError {
    /// - Parameter isSecurityMissing: Whether the peer had asked for encryption or authentication before.
    static func backend(_ code: CInt, _ operation: String, isSecurityMissing: Bool) -> BackendError {
        let text = String(cString: strerror(code))
        func error(_ code: BackendError.Code, _ hint: String? = nil) -> BackendError {
            BackendError(code, operation: operation, message: hint.map { "\(text): \($0)" } ?? text)
        }
        switch code {
        case EAFNOSUPPORT, EPROTONOSUPPORT, EPERM:
            return error(
                .operationNotSupported, "there are no Bluetooth sockets here; a container needs the host's network")
        case _ where isSecurityMissing: return .att(0x05, operation: operation, message: text)
        case EACCES, EKEYREJECTED: return .att(0x05, operation: operation, message: text)
        case ECONNREFUSED: return error(.operationNotSupported, "the peer has no channel of this number")
        case ETIMEDOUT: return error(.connectionTimeout)
        case ENOTCONN, ECONNRESET, ECONNABORTED, EPIPE, EHOSTDOWN, EHOSTUNREACH, ENODEV, ENETDOWN:
            return error(.notConnected)
        case ENOMEM, ENOBUFS, EMFILE, ENFILE, EADDRINUSE: return error(.outOfSpace)
        case EINVAL, EADDRNOTAVAIL: return error(.invalidParameters)
        default: return error(.unknown)
        }
    }
}
#endif
