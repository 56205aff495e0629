package import BluetoothBackend
import BluetoothSupport

/// The central role of a host outside of the emulator, which speaks the Attribute Protocol and pairs by itself.
///
/// Any thread may call any method.
package struct ExternalCentral: Sendable {
    /// The commands and events of the role; requests that need encryption fail, because the host pairs by itself.
    package let role: any CentralBackend
    private let emulator: Emulator
    private let host: Int
    private let manager: Ref<Manager>

    fileprivate init(_ emulator: Emulator, host: Int) {
        (self.emulator, self.host) = (emulator, host)
        manager = emulator.perform { [host] core in core.world.addManager(.central, host: host, isExternal: true) }
        role = EmulatedRole(emulator, manager, input: WorldInput.central, sink: RoleSink.central)
    }

    /// Sends a request of one packet whose response the host's controller knows, such as a step of a discovery; a response
    /// `written` reports that it arrived.
    package func exchange(on link: LinkID, _ operation: OperationID) {
        emulator.submit(.exchange(manager, link, operation))
    }

    /// Uses an address of the host's choice for the links that follow.
    package func setAddress(_ address: DeviceAddress) {
        guard emulator.core.withLock({ $0.world.lower.hosts[host].identity.airAddress }) != address else { return }
        emulator.submit(.host(host, .setAirAddress(address)))
    }

    /// The present state of an open link; nil if it ended.
    package func connection(of link: LinkID) -> TappedConnection? {
        emulator.core.withLock { core in
            let world = core.world
            guard let ref = world.lower.hosts.managers[manager]?.link(link) else { return nil }
            return world.lower.links.tapped(
                ref, world.gatt, world.security, world.lower.air, world.lower.hosts)
        }
    }
}

extension EmulatedHost {
    /// Whether apps or tools have managers of the host.
    package var hasManagers: Bool { !emulator.core.withLock { $0.world.lower.hosts[index].managers.isEmpty } }

    /// Makes the central role of a host outside of the emulator.
    package func makeExternalCentral() -> ExternalCentral { ExternalCentral(emulator, host: index) }
}

extension Emulator {
    /// Controls a link by the number that taps report; does nothing if it ended.
    package func control(link number: UInt32, _ control: LinkControl) { submit(.link(number, control)) }
}
