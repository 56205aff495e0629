public import BluetoothBackend
import BluetoothLocking
import Synchronization

extension Emulator {
    /// The permission of the host "default".
    public func authorization() -> AuthorizationStatus {
        core.withLock { core in
            core.world.hosts.first { $0.name == "default" }?.authorization ?? .allowed
        }
    }

    /// What this radio can do.
    public func supports(_ feature: BackendFeature) -> Bool {
        switch feature {
        case .connectedRSSI, .disconnectReason, .peripheralRole: true
        case .extendedScanAndConnect, .channels, .pairing: false
        }
    }

    /// Makes the central role of a host: "default", or the one that the options name, by name or address.
    ///
    /// A host that is not there has no adapter: the state is `.unsupported`.
    public func makeCentral(_ options: CentralOptions) -> any CentralBackend {
        EmulatedCentral(self, makeManager(.central, options.adapter))
    }

    /// Makes the peripheral role of the host that the options name, by name or address.
    ///
    /// Managers of one host are one device to others. A manager that names no host gets one of its own, "peripheral 1"
    /// and so on, so that both roles of a process meet; a host that no manager uses any more serves the next.
    public func makePeripheral(_ options: PeripheralOptions) -> any PeripheralBackend {
        let manager = perform { core in
            let host = options.adapter.map { core.world.host($0) } ?? core.world.freeHost()
            return core.world.addManager(.peripheral, host: host)
        }
        return EmulatedPeripheralRole(self, manager)
    }

    /// Makes a listener for pairing; this radio has no security yet, so that each pairing fails.
    public func makePairing() -> any PairingBackend {
        EmulatedPairing(self, makeManager(.pairing, nil))
    }

    private func makeManager(_ role: Manager.Role, _ adapter: String?) -> Ref<Manager> {
        perform { core in
            core.world.addManager(role, host: core.world.host(adapter ?? "default"))
        }
    }

    /// Starts delivery to a manager.
    func activate(_ manager: Ref<Manager>, _ receiver: Receiver) {
        perform { core in
            core.attach(receiver, to: manager)
            core.world.submit(.activate(manager))
        }
    }

    /// Ends a manager.
    ///
    /// Its receiver is released outside the lock.
    func invalidate(_ manager: Ref<Manager>) {
        let receiver = perform { core -> Receiver? in
            core.world.removeManager(manager)
            return core.detach(manager)
        }
        withExtendedLifetime(receiver) {}
    }
}
