#if os(Linux)
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

/// The roles of a daemon on one emulated host, one of each kind, independent of its clients.
struct HostRoles: Sendable {
    private let host: EmulatedHost
    /// The number of the daemon's adapter.
    private let index: Int
    private let receive: @Sendable (DaemonInput) -> Void
    let central: any CentralBackend
    let peripheral: any PeripheralBackend
    let pairing: any PairingBackend

    init(_ host: EmulatedHost, index: Int, receive: @escaping @Sendable (DaemonInput) -> Void) {
        self.host = host
        self.index = index
        self.receive = receive
        let options = RoleOptions(adapter: host.name)
        central = host.emulator.makeCentral(options)
        peripheral = host.emulator.makePeripheral(options)
        pairing = host.makePairing()
    }

    func activate() {
        central.activate(sink { .central(adapter: $0, $1) })
        peripheral.activate(sink { .peripheral(adapter: $0, $1) })
        pairing.activate(sink { .pairing(adapter: $0, $1) })
    }

    /// Returns a sink that passes events as inputs of the adapter.
    private func sink<Event: Sendable>(
        _ input: @escaping @Sendable (_ adapter: Int, Event) -> DaemonInput
    ) -> PassingSink<Event> {
        PassingSink("EmulatedBlueZ") { [receive, index] in receive(input(index, $0)) }
    }

    func invalidate() {
        central.invalidate()
        peripheral.invalidate()
        pairing.invalidate()
    }

    /// Creates a separate peripheral role for an advertisement.
    func makeAdvertiser(_ id: AdvertisementID) -> any PeripheralBackend {
        let advertiser = host.emulator.makePeripheral(RoleOptions(adapter: host.name))
        advertiser.activate(sink { .advertiser(adapter: $0, id, $1) })
        return advertiser
    }

    // MARK: The host

    var facts: HostFacts {
        HostFacts(
            name: host.name, address: host.address, isPowered: host.state == .poweredOn,
            advertisingSets: host.emulator.configuration.maximumAdvertisingSets,
            bonds: host.bonds.map { facts(of: $0.peer, $0.identityAddress) })
    }

    /// The centrals that are connected to the host's services.
    var centrals: [PeerFacts] { host.centrals.map { facts(of: $0.peer, $0.address) } }

    private func facts(of peer: PeerID, _ address: DeviceAddress) -> PeerFacts {
        PeerFacts(peer: peer, address: address, name: central.knownPeers([peer]).first?.name)
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
