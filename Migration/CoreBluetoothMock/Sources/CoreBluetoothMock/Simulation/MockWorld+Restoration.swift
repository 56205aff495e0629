import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

extension MockWorld {
    /// Preserves the state that ``CBMCentralManagerMock/simulateStateRestoration`` returns, for a manager that is about
    /// to be created.
    ///
    /// Specs that are linked to the host are restored as connected, others as connecting.
    func prepareRestoration(_ options: [String: Any]?) {
        guard let identifier = options?[CBMCentralManagerOptionRestoreIdentifierKey] as? String,
            let state = SimulationClosures.current.restoration?(identifier)
        else { return }
        let specs = state[CBMCentralManagerRestoredStatePeripheralsKey] as? [CBMPeripheralSpec] ?? []
        let peers = specs.enumerated().compactMap { index, spec -> RestoredCentralState.Peer? in
            guard let device = devices.first(where: { $0.spec == spec }), let peer = device.peer else {
                log.warning("the peripheral \(spec.identifier) is not restored: it is not simulated")
                return nil
            }
            device.remember()
            return RestoredCentralState.Peer(
                summary: PeerSummary(id: peer, name: spec.name), operation: OperationID(rawValue: UInt64(index + 1)))
        }
        emulator?.host.setRestoredState(
            RestoredCentralState(peers: peers, scan: ScanParameters(restored: state)), for: identifier)
    }
}

extension ScanParameters {
    /// Creates the scan of a restored state; nil without one.
    fileprivate init?(restored state: [String: Any]) {
        let services = state[CBMCentralManagerRestoredStateScanServicesKey] as? [CBMUUID]
        let options = state[CBMCentralManagerRestoredStateScanOptionsKey] as? [String: Any]
        guard services != nil || options != nil else { return nil }
        let solicited = options?[CBMCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBMUUID]
        self.init(
            services: services.flatMap { $0.isEmpty ? nil : $0.map { BluetoothUUID($0) } },
            solicitedServices: (solicited ?? []).map { BluetoothUUID($0) },
            allowDuplicates: options.allowDuplicates)
    }
}
