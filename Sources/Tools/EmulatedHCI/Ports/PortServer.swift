#if os(Linux)
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch
import Glibc
import Logging

/// Attaches the host that connects to a port, one at a time, while the adapter of the host is plugged in.
// Invariant: all variables are used on `queue` only.
final class PortServer: @unchecked Sendable {
    private static let logger = Logger(label: "EmulatedHCI")

    private let host: EmulatedHost
    private let transport: any PortTransport
    private let queue: DispatchQueue
    /// Left when the transport is closed.
    private let closed = DispatchGroup()
    private var accepting: (any DispatchSourceRead)?
    private var connection: PortConnection?
    private var attached: ExternalHost?
    private var bonds = SecurityBonds()
    private var tap: EmulatorTap?
    private var isPlugged = true
    /// Whether the adapter was plugged in when the world last changed; an event may be older than ``isPlugged``.
    private var wasPlugged = true
    private var isClosed = false

    /// - Parameter stream: The stream to the host, if it is already there.
    init(_ host: EmulatedHost, _ transport: any PortTransport, _ stream: PortStream?) {
        (self.host, self.transport) = (host, transport)
        queue = DispatchQueue(label: "EmulatedHCI \(host.name)")
        closed.enter()
        queue.async { [self] in
            showPort()
            if let stream { attach(stream) }
            tap = host.emulator.tap([.hosts]) { [weak self, queue, index = host.index] event in
                switch event.kind {
                case .hostAdded(let host), .hostChanged(let host):
                    guard host.index == index else { return }
                    queue.async { [weak self] in self?.worldChanged(host.isPlugged && host.state != .unsupported) }
                default: break
                }
            }
            guard let listener = transport.listener else { return }
            let source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: queue)
            source.setEventHandler { [weak self] in self?.open() }
            source.setCancelHandler { [self] in closeTransport() }
            accepting = source
            source.resume()
        }
    }

    /// Closes the port, and returns when its transport is closed; not on `queue`.
    func close() {
        queue.async { [self] in
            guard !isClosed else { return }
            isClosed = true
            tap?.cancel()
            tap = nil
            detach("the port is closed")
            host.setPort(nil)
            // A listener is closed when its source no longer uses it.
            if let accepting { accepting.cancel() } else { closeTransport() }
            accepting = nil
        }
        closed.wait()
    }

    private func closeTransport() {
        transport.close()
        closed.leave()
    }

    /// Handles a change of the host.
    private func worldChanged(_ isPlugged: Bool) {
        guard isPlugged != wasPlugged else { return }
        wasPlugged = isPlugged
        plug(isPlugged)
    }

    /// Detaches the host when its adapter is unplugged, and attaches it again.
    private func plug(_ isPlugged: Bool) {
        guard isPlugged != self.isPlugged, !isClosed else { return }
        self.isPlugged = isPlugged
        if !isPlugged {
            detach("its adapter is unplugged")
        } else if transport.listener == nil {
            open()
        }
    }

    /// Attaches the host that waits, or the one that is always there.
    private func open() {
        do throws(HCIPortError) {
            guard let stream = try transport.open() else { return }
            guard isPlugged, connection == nil else {
                Self.logger.line(
                    .warning,
                    "host \(host.name) is \(isPlugged ? "attached" : "unplugged"); "
                        + "\(isPlugged ? "another" : "a") connection to \(transport.address) is refused")
                Glibc.close(stream.descriptor)
                return
            }
            attach(stream)
        } catch {
            Self.logger.line(.error, "host \(host.name) cannot attach: \(error)")
            unplug()
        }
    }

    /// The world shows that the host has no adapter.
    private func unplug() {
        isPlugged = false
        host.setPlugged(false)
    }

    /// The world shows the port, and whether a host is attached.
    private func showPort() {
        host.setPort(HostPort(address: transport.address, isAttached: connection != nil))
    }

    private func attach(_ stream: PortStream) {
        Self.logger.line(.info, "host \(host.name) attaches to \(transport.place)")
        let connection = PortConnection(stream, on: queue)
        self.connection = connection
        showPort()
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
        Self.logger.line(.info, "host \(host.name) leaves \(transport.place): \(reason)")
        connection.close()
        if let kept = attached?.end() { bonds = kept }
        (self.connection, attached) = (nil, nil)
        showPort()
        guard transport.listener == nil, !isClosed, isPlugged else { return }
        // A program that removes a device from the kernel unplugs it. A terminal stays open: the next program that opens
        // it attaches anew.
        if transport.isKernelDevice { unplug() } else { open() }
    }
}
#endif
