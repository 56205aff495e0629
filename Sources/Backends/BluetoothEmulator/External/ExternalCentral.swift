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

    /// Uses parameters of the host's choice for the links that follow.
    package func setParameters(_ parameters: ConnectionParameters) {
        emulator.submit(.host(host, .setLinkParameters(parameters)))
    }

    /// The characteristics to which the host subscribed on the last encrypted link with the same device; none if the device has
    /// no keys.
    package func rememberedSubscriptions(of link: LinkID) -> [AttributeID] {
        emulator.core.withLock { core in
            let world = core.world
            guard let manager = world.lower.hosts.managers[manager], let ref = manager.link(link),
                let link = world.lower.links[ref], let device = world.lower.air.devices[link.device],
                let bond = world.security.serverBond(link.device, device, with: world.lower.hosts[link.host])
            else { return [] }
            return bond.subscriptions.keys.sorted()
        }
    }

    /// The present state of an open link; nil if it ended.
    package func connection(of link: LinkID) -> TappedConnection? {
        emulator.core.withLock { core in
            core.world.lower.hosts.managers[manager]?.link(link).flatMap { core.world.tapped($0) }
        }
    }
}

extension EmulatedHost {
    /// Whether apps or tools have managers of the host.
    package var hasManagers: Bool { !emulator.core.withLock { $0.world.lower.hosts[index].managers.isEmpty } }

    /// Opens or closes a port for a host outside of the emulator, for all who observe the world.
    package func setPort(_ port: HostPort?) { emulator.submit(.host(index, .setPort(port))) }

    /// Reports the packets between a host outside of the emulator and its controller to taps, if one wants them.
    ///
    /// - Parameter packets: Returns for each packet whether the host receives it, its type as in H4, and its bytes.
    package func reportPackets(_ packets: () -> [(isReceived: Bool, type: UInt8, bytes: [UInt8])]) {
        guard emulator.core.withLock({ $0.world.lower.context.tapped.contains(.hci) }) else { return }
        let events = packets().map { TapEvent.Kind.hciPacket(host: index, isReceived: $0, type: $1, $2) }
        emulator.perform { core in for event in events { core.world.lower.context.report(event) } }
    }

    /// Makes the central role of a host outside of the emulator.
    package func makeExternalCentral() -> ExternalCentral { ExternalCentral(emulator, host: index) }
}

extension Emulator {
    /// The capability of the agent that is asked about the pairings of a host; nil without an agent.
    package func pairingCapability(ofHost host: Int) -> PairingCapability? {
        core.withLock { $0.world.lower.hosts.agents(of: host).last?.element.capability }
    }

    /// Controls a link by the number that taps report; does nothing if it ended.
    package func control(link number: UInt32, _ control: LinkControl) { submit(.link(number, control)) }
}
