import Foundation
import Synchronization

/// A port of 127.0.0.1 that sends nothing to clients.
final class SilentHost: Sendable {
    let port: UInt16
    private let listening: Int32
    private let others = Mutex<[Int32]>([])

    /// - Parameter isReachable: Whether the kernel completes connections, which then get no answer. Otherwise it drops
    ///   each attempt to connect, as a firewall may: the queue of the listening socket is full.
    init(isReachable: Bool) throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = Self.withAddress(&address) { pointer in
            bind(listening, pointer, length) == 0 && listen(listening, isReachable ? 16 : 0) == 0
                && getsockname(listening, pointer, &length) == 0
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        self.listening = listening
        guard !isReachable else { return }
        // A queue of length 0 accepts one connection.
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        others.withLock { $0.append(client) }
        guard Self.withAddress(&address, { connect(client, $0, length) }) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    /// Takes a connection from the queue, so that the kernel completes the next attempt.
    func makeRoom() throws {
        let connection = accept(listening, nil, nil)
        guard connection >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        others.withLock { $0.append(connection) }
    }

    /// Ends the connections, and refuses further ones.
    func close() { for descriptor in others.withLock({ $0 }) + [listening] { Foundation.close(descriptor) } }

    private static func withAddress<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
