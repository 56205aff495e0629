#if os(Linux)
import BluetoothBackend

/// The centrals that are connected to the hosts of a world, and their changes.
struct ConnectedCentrals: Sendable {
    /// The known centrals, by host.
    private var known: [Int: [PeerFacts]] = [:]

    /// Returns the centrals that connected or disconnected since the last call.
    mutating func changes(of hosts: [HostRoles]) -> [DaemonInput] {
        var inputs: [DaemonInput] = []
        for (index, host) in hosts.enumerated() {
            let (before, now) = (known[index] ?? [], host.centrals)
            known[index] = now
            for central in before where !now.contains(where: { $0.peer == central.peer }) {
                inputs.append(.centralDisconnected(adapter: index, central.peer))
            }
            for central in now where !before.contains(where: { $0.peer == central.peer }) {
                inputs.append(.centralConnected(adapter: index, central))
            }
        }
        return inputs
    }
}
#endif
