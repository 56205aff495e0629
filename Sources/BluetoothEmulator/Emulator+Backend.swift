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
        case .connectedRSSI, .disconnectReason: true
        case .extendedScanAndConnect, .peripheralRole, .channels, .pairing: false
        }
    }

    /// Makes the central role of a host: "default", or the one that the options name, by name or address.
    ///
    /// A host that is not there has no adapter: the state is `.unsupported`.
    public func makeCentral(_ options: CentralOptions) -> any CentralBackend {
        EmulatedCentral(self, makeManager(.central, options.adapter))
    }

    /// Makes the peripheral role; this radio has none yet, so that its state is `.unsupported`.
    public func makePeripheral(_ options: PeripheralOptions) -> any PeripheralBackend {
        EmulatedPeripheralRole(self, makeManager(.peripheral, options.adapter))
    }

    /// Makes a listener for pairing; this radio has no security yet, so that each pairing fails.
    public func makePairing() -> any PairingBackend {
        EmulatedPairing(self, makeManager(.pairing, nil))
    }

    private func makeManager(_ role: Manager.Role, _ adapter: String?) -> Ref<Manager> {
        perform { core in
            let name = adapter ?? "default"
            let host = core.world.hosts.firstIndex { $0.name == name || $0.address.description == name }
            return core.world.addManager(role, host: host)
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
