#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// Questions about devices, which change nothing.
extension CentralRoleMachine {
    func knownPeers(_ ids: [PeerID]) -> [PeerSummary] {
        ids.compactMap(directory.summary)
    }

    func connectedPeers(offering services: [BluetoothUUID]) -> [PeerSummary] {
        objects.devices.keys.sorted().compactMap { path in
            guard isOurs(path), let device = objects.devices[path], device.isConnected,
                services.contains(where: { offers($0, path, device) })
            else { return nil }
            return directory.peer(at: path).flatMap(directory.summary)
        }
    }

    func needsPairing(with device: ObjectPath) -> Bool {
        directory.peer(at: device).map { !context.ledger.leases(of: $0).isEmpty } ?? false
    }

    func offers(_ service: BluetoothUUID, _ path: ObjectPath, _ device: Device1) -> Bool {
        device.advertisement.serviceUUIDs?.contains(service) == true
            || objects.attributes(of: path).contains { objects.services[$0]?.uuid == service }
    }
}
#endif
