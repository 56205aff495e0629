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
    private let send: @Sendable ([HCIPacket]) -> Void
    private var controller: Controller
    private var layer: EmulatedLinkLayer?

    /// - Parameter send: Sends packets to the host; called on the queue.
    init(_ host: EmulatedHost, on queue: DispatchQueue, _ send: @escaping @Sendable ([HCIPacket]) -> Void) {
        (self.queue, self.send) = (queue, send)
        controller = Controller(
            Controller.Configuration(
                address: HCIAddress(host.address), seed: host.address.bits, cipher: SecurityFunctions.e))
        let layer = EmulatedLinkLayer(host, on: queue) { [weak self] event in self?.handle(event) }
        self.layer = layer
        layer.begin()
    }

    func receive(_ packet: HCIPacket) { perform(controller.receive(packet)) }

    private func handle(_ event: LinkLayerEvent) {
        guard layer != nil else { return }
        perform(controller.handle(event))
    }

    /// Packets first: the host learns of a command's status before the events that it causes.
    private func perform(_ output: Controller.Output) {
        if !output.packets.isEmpty { send(output.packets) }
        for command in output.commands { layer?.perform(command) }
    }

    func end() {
        layer?.end()
        layer = nil
    }
}
