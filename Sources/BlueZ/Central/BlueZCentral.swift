#if os(Linux)
import BluetoothBackend

/// One manager's view of a ``CentralRadio``.
final class BlueZCentral: CentralBackend {
    private let radio: CentralRadio
    private let manager: HostLedger.Manager

    init(radio: CentralRadio) {
        self.radio = radio
        manager = radio.newManager()
    }

    deinit { radio.invalidate(manager) }

    func activate(_ sink: any EventSink<CentralEvent>) {
        radio.activate(manager, sink)
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
