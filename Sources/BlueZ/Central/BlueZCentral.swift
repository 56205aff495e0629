#if os(Linux)
import BluetoothBackend

/// One manager's view of a ``CentralRadio``.
final class BlueZCentral: CentralBackend {
    private let radio: CentralRadio
    private let manager: HostLedger.Manager

    private let pairing: PairingRadio?

    /// - Parameter pairing: What agrees to pairings that the manager's links need; nil where the system does.
    init(radio: CentralRadio, pairing: PairingRadio?) {
        self.radio = radio
        self.pairing = pairing
        manager = radio.newManager()
    }

    deinit { radio.invalidate(manager) }

    func activate(_ sink: any EventSink<CentralEvent>) {
        radio.activate(manager, sink)
        pairing?.want()
    }

    func submit(_ command: CentralCommand) {
        radio.submit(command, from: manager)
    }

    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        radio.query { $0.knownPeers(ids) }
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        radio.query { $0.connectedPeers(offering: services) }
    }

    func invalidate() {
        radio.invalidate(manager)
    }
}
#endif
