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
        switch kind {
        case .services, .included, .characteristics, .descriptors: discovery
        case .write, .setNotifying: write
        case .read: read
        case .writeCommand, .rssi, .openChannel, .deviceName: 0
        }
    }
}
