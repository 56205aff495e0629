#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

/// The roles of a daemon on one emulated host, one of each kind, independent of its clients.
struct HostRoles: Sendable {
    /// An event of one of the roles.
    enum Event: Sendable {
        case central(CentralEvent)
        case peripheral(PeripheralEvent)
        case pairing(PairingEvent)

        func input(_ adapter: Int) -> DaemonInput {
            switch self {
            case .central(let event): .central(adapter: adapter, event)
            case .peripheral(let event): .peripheral(adapter: adapter, event)
            case .pairing(let event): .pairing(adapter: adapter, event)
            }
        }
    }

    private let host: EmulatedHost
    private let receive: @Sendable (Event) -> Void
    let central: any CentralBackend
    let peripheral: any PeripheralBackend
    let pairing: any PairingBackend

    init(_ host: EmulatedHost, receive: @escaping @Sendable (Event) -> Void) {
        self.host = host
        self.receive = receive
        let options = RoleOptions(adapter: host.name)
        central = host.emulator.makeCentral(options)
        peripheral = host.emulator.makePeripheral(options)
        pairing = host.makePairing()
    }

    func activate() {
        central.activate(PassingSink<CentralEvent>("EmulatedBlueZ") { [receive] in receive(.central($0)) })
        peripheral.activate(PassingSink<PeripheralEvent>("EmulatedBlueZ") { [receive] in receive(.peripheral($0)) })
        pairing.activate(PassingSink<PairingEvent>("EmulatedBlueZ") { [receive] in receive(.pairing($0)) })
    }

    func invalidate() {
        central.invalidate()
        peripheral.invalidate()
        pairing.invalidate()
    }

    /// Creates a separate peripheral role for an advertisement.
    func makeAdvertiser(_ receive: @escaping @Sendable (PeripheralEvent) -> Void) -> any PeripheralBackend {
        let advertiser = host.emulator.makePeripheral(RoleOptions(adapter: host.name))
        advertiser.activate(PassingSink("EmulatedBlueZ", receive))
        return advertiser
    }

    // MARK: The host

    var facts: HostFacts {
        HostFacts(
            name: host.name, address: host.address.description, isRandomAddress: host.address.isRandom,
            isPowered: host.state == .poweredOn,
            advertisingSets: host.emulator.configuration.maximumAdvertisingSets,
            bonds: host.bonds.map { bond in
                PeerFacts(
                    peer: bond.peer, address: bond.identityAddress.description, isRandom: bond.identityAddress.isRandom,
                    name: central.knownPeers([bond.peer]).first?.name)
            })
    }

    /// The centrals that are connected to the host's services.
    var centrals: [PeerFacts] {
        host.centrals.map { connected in
            PeerFacts(
                peer: connected.peer, address: connected.address.description, isRandom: connected.address.isRandom,
                name: central.knownPeers([connected.peer]).first?.name)
        }
    }

    /// The value of the Appearance of a connected device.
    func appearance(of peer: PeerID) -> Data? { host.appearance(of: peer) }

    func perform(_ action: HostAction) {
        switch action {
        case .power(let isOn): host.setPower(isOn)
        case .disconnectCentral(let peer, let isForSecurity): host.disconnectCentral(peer, isForSecurity: isForSecurity)
        case .requestSecurity(let peer): host.requestSecurity(of: peer)
        case .removeBond(let peer): pairing.submit(.unpair(peer: peer, operation: OperationID(rawValue: 0)))
        }
    }
}
#endif
