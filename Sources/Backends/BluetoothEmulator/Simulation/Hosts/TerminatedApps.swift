import BluetoothBackend

/// The preserved state of a host's managers whose apps the system terminated, by restore identifier.
struct TerminatedApps: Sendable {
    var centrals: [String: TerminatedCentral] = [:]
    var peripherals: [String: TerminatedPeripheral] = [:]
}

/// The preserved state of a central manager whose app the system terminated.
struct TerminatedCentral: Sendable {
    struct Peer: Sendable {
        let id: PeerID
        let operation: OperationID
        let options: ConnectOptions
        /// The services that the app knew; nil for all services of the device.
        var services: [RestoredCentralState.Service]?
        var notifying: [AttributeID] = []
    }

    var peers: [Peer] = []
    var scan: ScanParameters?
    /// The number under which the ledger registers the links; nil if a test provided the state.
    var placeholder: Ref<Manager>?
}

/// The preserved state of a peripheral manager whose app the system terminated.
struct TerminatedPeripheral: Sendable {
    var publication = ManagerPublication()
    /// The advertisement of a state that a test provided; others stay on the air.
    var advertisement: Advertisement?
    /// The number under which the services stay published; nil if a test provided the state.
    var owner: Ref<Manager>?
}

extension Device {
    /// Lets a manager own what another one published and advertises.
    mutating func reown(from old: Ref<Manager>, to new: Ref<Manager>) {
        server.database.reown(from: old, to: new)
        advertiser.reown(from: old, to: new)
    }
}

extension AttributeDatabase {
    fileprivate mutating func reown(from old: Ref<Manager>, to new: Ref<Manager>) {
        for (id, attribute) in all where attribute.owner?.manager == old { self[id]?.owner?.manager = new }
    }
}
