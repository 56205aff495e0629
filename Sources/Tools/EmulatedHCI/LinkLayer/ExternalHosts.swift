import BluetoothEmulator
import BluetoothSupport

/// The hosts outside of the emulator that are attached to the worlds of this process, so that two of them find each other.
///
/// Any thread may call any method.
final class ExternalHosts: Sendable {
    private struct Host {
        let emulator: ObjectIdentifier
        let index: Int
        weak var layer: EmulatedLinkLayer?
    }

    static let shared = ExternalHosts()

    private let hosts = Lock([Host]())

    func add(_ layer: EmulatedLinkLayer) {
        let host = Host(emulator: ObjectIdentifier(layer.emulator), index: layer.host.index, layer: layer)
        hosts.withLock { $0.append(host) }
    }

    func remove(_ layer: EmulatedLinkLayer) {
        hosts.withLock { $0.removeAll { $0.layer == nil || $0.layer === layer } }
    }

    /// The attached hosts of a world other than one.
    func others(than layer: EmulatedLinkLayer) -> [EmulatedLinkLayer] {
        let emulator = ObjectIdentifier(layer.emulator)
        return hosts.withLock { hosts in hosts.filter { $0.emulator == emulator }.compactMap(\.layer) }
            .filter { $0 !== layer }
    }

    /// Whether a host of a world is outside of the emulator and attached.
    func contains(_ index: Int, of emulator: Emulator) -> Bool {
        hosts.withLock { hosts in
            hosts.contains { $0.emulator == ObjectIdentifier(emulator) && $0.index == index && $0.layer != nil }
        }
    }
}
