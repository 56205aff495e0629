public import BluetoothBackend
import BluetoothSupport

/// A central that is connected to the peripheral role of a host.
package struct ConnectedCentral: Hashable, Sendable {
    /// The identifier under which the host knows it.
    package let peer: PeerID
    /// The identity address where both have keys, else the address on the air when it connected.
    package let address: DeviceAddress
    /// The MTU of ATT, in bytes.
    package let mtu: Int
}

/// The keys that a host has of another device.
package struct HostBond: Hashable, Sendable {
    /// The identifier under which the host knows the device.
    package let peer: PeerID
    /// The address of the device on the air; the identity address where the device is gone.
    package let address: DeviceAddress
    /// The address by which those who have keys know the device.
    package let identityAddress: DeviceAddress
    /// Whether the users compared numbers, or the data was exchanged out of band.
    package let isAuthenticated: Bool
}

// The devices that a host knows, for programs that serve it to others.
extension EmulatedHost {
    /// Whether it was made for a peripheral manager that named no host ("peripheral 1"), and is not one of the world's.
    package var isAnonymous: Bool { emulator.core.withLock { $0.world.hosts[index].identity.isAnonymous } }

    /// The centrals that are connected to the host's peripheral role, in the order in which they connected.
    package var centrals: [ConnectedCentral] { emulator.core.withLock { $0.world.connectedCentrals(of: index) } }

    /// Ends the link of a connected central, as this host, with the next connection event.
    ///
    /// Does nothing for a central that is not connected.
    ///
    /// - Parameter isForSecurity: Whether the pairing failed, which the central learns as the reason.
    package func disconnectCentral(_ peer: PeerID, isForSecurity: Bool = false) {
        emulator.submit(.host(index, .disconnectCentral(peer, isForSecurity: isForSecurity)))
    }

    /// The devices that the host has keys of, in the order of their identity addresses.
    package var bonds: [HostBond] { emulator.core.withLock { $0.world.bonds(of: index) } }

    /// The address under which the host knows a peer, which may have been heard, connected in either role or bonded; nil
    /// for one that the host does not know.
    package func address(of peer: PeerID) -> DeviceAddress? {
        emulator.core.withLock { $0.world.address(of: peer, on: index) }
    }

    /// Whether the link with a peer, in either role, is encrypted; false without a link.
    package func isEncrypted(with peer: PeerID) -> Bool {
        emulator.core.withLock { core in
            core.world.link(with: peer, in: [index]).map { $0.1.refusal == nil } ?? false
        }
    }
}

extension EmulatedHost {
    /// The identifier under which the apps of another host know this one, as a central and as a peripheral; nil if there is
    /// no host of that name.
    ///
    /// Without keys it belongs to the present address; see ``rotateAddress()``.
    public func identifier(onHost name: String) -> PeerID? {
        emulator.core.withLock { core in
            let identity = core.world.hosts[index].identity
            guard let other = core.world.host(name) else { return nil }
            return core.world.hosts[other].pairing.bonds[identity.address]?.peer
                ?? core.world.hosts[other].identity.peerID(of: identity.airAddress)
        }
    }
}
