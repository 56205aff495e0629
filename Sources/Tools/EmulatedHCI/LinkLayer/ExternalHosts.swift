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
        /// The numbers of the host's devices in the world.
        var devices: Set<UInt32> = []
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

    func setDevices(_ devices: Set<UInt32>, of layer: EmulatedLinkLayer) {
        hosts.withLock { hosts in
            if let index = hosts.firstIndex(where: { $0.layer === layer }) { hosts[index].devices = devices }
        }
    }

    /// The attached host whose device has a number; nil for a device of the world.
    func owner(ofDevice number: UInt32, in emulator: Emulator) -> EmulatedLinkLayer? {
        let world = ObjectIdentifier(emulator)
        return hosts.withLock { hosts in
            hosts.first { $0.emulator == world && $0.devices.contains(number) }?.layer
        }
    }

    /// Whether a host of a world is outside of the emulator and attached.
    func contains(_ index: Int, of emulator: Emulator) -> Bool {
        let world = ObjectIdentifier(emulator)
        return hosts.withLock { hosts in
            hosts.contains { $0.emulator == world && $0.index == index && $0.layer != nil }
        }
    }
}
