public import BluetoothBackend
import BluetoothSupport

/// A central that is connected to the peripheral role of a host.
package struct ConnectedCentral: Hashable, Sendable {
    /// The identifier under which the host knows it.
    package let peer: PeerID
    /// The identity address if both sides have keys, else the address on the air at the time of the connection.
    package let address: DeviceAddress
    /// The ATT MTU, in bytes.
    package let mtu: Int
}

/// The keys that a host has for another device.
package struct HostBond: Hashable, Sendable {
    /// The identifier under which the host knows the device.
    package let peer: PeerID
    /// The address of the device on the air; the identity address if the device was removed.
    package let address: DeviceAddress
    /// The address by which peers with the device's keys know it.
    package let identityAddress: DeviceAddress
    /// Whether the users compared numbers, or the data was exchanged out of band.
    package let isAuthenticated: Bool
}

// The devices that a host knows, for programs that expose the host to other programs.
extension EmulatedHost {
    /// Whether the host was created for a peripheral manager that named no host ("peripheral 1").
    package var isAnonymous: Bool { emulator.core.withLock { $0.world.lower.hosts[index].identity.isAnonymous } }

    /// The centrals that are connected to the host's peripheral role, in the order in which they connected.
    package var centrals: [ConnectedCentral] {
        emulator.core.withLock {
            $0.world.lower.links.connectedCentrals(
                of: $0.world.lower.hosts[index], $0.world.lower.air, $0.world.lower.hosts)
        }
    }

    /// Ends the link of a connected central from this host's side, with the next connection event.
    ///
    /// Does nothing for a central that is not connected.
    ///
    /// - Parameter isForSecurity: Whether the reason that the central receives is a failed pairing.
    package func disconnectCentral(_ peer: PeerID, isForSecurity: Bool = false) {
        emulator.submit(.host(index, .disconnectCentral(peer, isForSecurity: isForSecurity)))
    }

    /// Asks a connected central to encrypt the link: with its keys, or without them by a pairing.
    ///
    /// Does nothing for a central that is not connected, or whose link is encrypted.
    package func requestSecurity(of peer: PeerID) { emulator.submit(.host(index, .requestSecurity(peer))) }

    /// The devices whose keys the host has, in the order of their identity addresses.
    package var bonds: [HostBond] {
        emulator.core.withLock { $0.world.security.bonds(of: index, $0.world.lower.air, $0.world.lower.hosts) }
    }

    /// Returns the address under which the host knows a peer that it has heard, connected in either role or bonded.
    ///
    /// - Returns: nil for an unknown peer.
    package func address(of peer: PeerID) -> DeviceAddress? {
        emulator.core.withLock { $0.world.address(of: peer, on: index) }
    }

    /// The value of the Appearance (2A01) of a device that the host has a link with: two bytes, the least significant
    /// first; nil where its Generic Access (1800) has none, or the link may not read it.
    package func appearance(of peer: PeerID) -> Data? {
        emulator.core.withLock { $0.world.appearance(of: peer, on: index) }
    }

    /// Whether the link with a peer, in either role, is encrypted; false without a link.
    package func isEncrypted(with peer: PeerID) -> Bool {
        emulator.core.withLock { core in
            core.world.lower.links.link(with: peer, in: [index], core.world.lower.air, core.world.lower.hosts).map {
                $0.1.security.refusal == nil
            } ?? false
        }
    }
}

extension EmulatedHost {
    /// The identifier under which the apps of another host know this one, as a central and as a peripheral.
    ///
    /// Without keys, the identifier belongs to the present address; see ``rotateAddress()``.
    ///
    /// - Returns: nil if no host has that name.
    public func identifier(onHost name: String) -> PeerID? {
        emulator.core.withLock { core in
            let identity = core.world.lower.hosts[index].identity
            guard let other = core.world.lower.hosts.index(named: name) else { return nil }
            return core.world.security[other].bonds[identity.address]?.peer
                ?? core.world.lower.hosts[other].identity.peerID(of: identity.airAddress)
        }
    }
}
