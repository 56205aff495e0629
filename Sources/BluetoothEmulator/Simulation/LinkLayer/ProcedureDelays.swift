import BluetoothBackend

/// What devices need for their answers, besides the round trips.
struct ProcedureDelays: Sendable {
    let discovery: Nanoseconds
    let read: Nanoseconds
    let write: Nanoseconds
    let notification: Nanoseconds

    init(_ configuration: EmulatorConfiguration) {
        discovery = configuration.discoveryDelay.nanoseconds
        read = configuration.readDelay.nanoseconds
        write = configuration.writeDelay.nanoseconds
        notification = configuration.notificationDelay.nanoseconds
    }

    func delay(of kind: LinkOperation.Kind) -> Nanoseconds {
        guard case .request(let request) = kind else { return 0 }
        return switch request {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors: discovery
        case .write, .setNotifying: write
        case .read: read
        case .readRSSI, .openChannel: 0
        }
    }
}
