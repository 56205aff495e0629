#if os(Linux)
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch
import Glibc
import Logging

/// Attaches the host that connects to a port, one at a time.
// Invariant: all variables are used on `queue` only.
final class PortServer: @unchecked Sendable {
    private static let logger = Logger(label: "EmulatedHCI")

    private let host: EmulatedHost
    private let socket: PortSocket
    private let queue: DispatchQueue
    private var accepting: (any DispatchSourceRead)?
    private var connection: PortConnection?
    private var attached: ExternalHost?
    private var bonds = SecurityBonds()
    private var isClosed = false

    init(_ host: EmulatedHost, _ socket: PortSocket) {
        (self.host, self.socket) = (host, socket)
        queue = DispatchQueue(label: "EmulatedHCI \(host.name)")
        queue.async { [self] in
            guard socket.isListening else { return attach(dup(socket.descriptor)) }
            let source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
            source.setEventHandler { [weak self] in self?.accept() }
            source.setCancelHandler { socket.close() }
            accepting = source
            source.resume()
        }
    }

    func close() {
        queue.async { [self] in
            guard !isClosed else { return }
            isClosed = true
            detach("the port is closed")
            if let accepting { accepting.cancel() } else { socket.close() }
            accepting = nil
        }
    }

    private func accept() {
        let descriptor = Glibc.accept(socket.descriptor, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        guard connection == nil else {
            Self.logger.line(
                .warning, "host \(host.name) is attached; another connection to \(socket.address) is refused")
            Glibc.close(descriptor)
            return
        }
        var one: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
        attach(descriptor)
    }

    private func attach(_ descriptor: CInt) {
        Self.logger.line(.info, "host \(host.name) attaches to \(socket.address)")
        let connection = PortConnection(descriptor, on: queue)
        self.connection = connection
        let attached = ExternalHost(host, on: queue, bonds: bonds) { [weak connection] packets in
            connection?.send(packets)
        }
        self.attached = attached
        connection.begin(
            receive: { [weak attached] packet in attached?.receive(packet) },
            end: { [weak self] reason in self?.detach(reason) })
    }

    private func detach(_ reason: String) {
        guard let connection else { return }
        Self.logger.line(.info, "host \(host.name) leaves \(socket.address): \(reason)")
        connection.close()
        if let kept = attached?.end() { bonds = kept }
        (self.connection, attached) = (nil, nil)
        // A terminal stays open: the next program that opens it attaches anew.
        if !socket.isListening, !isClosed { attach(dup(socket.descriptor)) }
    }
}
#endif
