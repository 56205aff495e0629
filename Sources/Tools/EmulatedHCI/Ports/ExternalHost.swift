import BluetoothBackend
import BluetoothCapture
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Dispatch
import Logging

/// A host outside of the emulator while it is attached: its controller, and the Link Layer in the world.
///
/// On one queue.
// Invariant: all variables are used on `queue` only.
final class ExternalHost: @unchecked Sendable {
    private let queue: DispatchQueue
    private let host: EmulatedHost
    private let send: @Sendable ([HCIPacket]) -> Void
    private var controller: Controller
    private var layer: EmulatedLinkLayer?
    private var addressTimer: (any BackendTimer)?

    /// - Parameter send: Sends packets to the host; called on the queue.
    init(
        _ host: EmulatedHost, on queue: DispatchQueue, bonds: SecurityBonds,
        _ send: @escaping @Sendable ([HCIPacket]) -> Void
    ) {
        (self.host, self.queue, self.send) = (host, queue, send)
        controller = Controller(
            Controller.Configuration(
                address: HCIAddress(host.address), seed: host.address.bits,
                cipher: { key, block in SecurityFunctions.e(key: key.reversed(), block.reversed()).reversed() }))
        let layer = EmulatedLinkLayer(host, on: queue, bonds: bonds) { [weak self] event in self?.handle(event) }
        self.layer = layer
        layer.begin()
        renewPrivateAddressesLater()
    }

    /// Renews the private addresses of the advertising sets, as often as the host has set.
    private func renewPrivateAddressesLater() {
        addressTimer = layer?.after(controller.privateAddressTimeout) { [weak self] in
            guard let self, layer != nil else { return }
            perform(controller.renewPrivateAddresses())
            renewPrivateAddressesLater()
        }
    }

    func receive(_ packet: HCIPacket) {
        report([packet])
        perform(controller.receive(packet))
    }

    private func handle(_ event: LinkLayerEvent) {
        guard layer != nil else { return }
        perform(controller.handle(event))
    }

    /// Packets first: the host learns of a command's status before the events that it causes.
    private func perform(_ output: Controller.Output) {
        if !output.packets.isEmpty {
            report(output.packets)
            send(output.packets)
        }
        for command in output.commands { layer?.perform(command) }
    }

    private func report(_ packets: [HCIPacket]) {
        host.reportPackets { packets.map { ($0.isReceived, $0.kind.rawValue, $0.body) } }
    }

    /// Leaves the world.
    ///
    /// - Returns: The keys of the host's pairings.
    func end() -> SecurityBonds? {
        layer?.end()
        addressTimer?.cancel()
        return layer.take()?.bonds
    }
}
