import BluetoothBackend

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
    /// The number under which the ledger holds the links; nil if a test provided the state.
    var placeholder: Ref<Manager>?
}

/// The preserved state of a peripheral manager whose app the system terminated.
struct TerminatedPeripheral: Sendable {
    var services: [ServiceDefinition] = []
    var advertisement: Advertisement?
    /// The number under which the services stay published; nil if a test provided the state.
    var owner: Ref<Manager>?
    /// The numbers of attributes in the host's database, by the manager's own numbers.
    var published: [AttributeID: AttributeID] = [:]
}
