import BluetoothBackend

/// What a host keeps of an app's central manager that the system ended.
struct PreservedCentral: Sendable {
    struct Peer: Sendable {
        let id: PeerID
        let operation: OperationID
        let options: ConnectOptions
        /// What the app knew; nil: all that the device has.
        var services: [RestoredCentralState.Service]?
        var notifying: [AttributeID] = []
    }

    var peers: [Peer] = []
    var scan: ScanParameters?
    /// Under which number the ledger keeps the links; nil where a test gave the state.
    var keeper: Ref<Manager>?
}

/// What a host keeps of an app's peripheral manager that the system ended.
struct PreservedPeripheral: Sendable {
    var services: [ServiceDefinition] = []
    var advertisement: Advertisement?
    /// Whose the services are still; nil where a test gave the state.
    var owner: Ref<Manager>?
    /// By the manager's numbers: those of the host's database.
    var published: [AttributeID: AttributeID] = [:]
}
