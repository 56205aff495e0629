import BluetoothSupport

/// The layers below the protocols of links: the hosts, the devices on the air and the links between them, with what all
/// layers of a world share.
struct LowerLayers: Sendable {
    var context: WorldContext
    var hosts = Hosts()
    var air: Air
    var links = LinkLayer()

    init(configuration: EmulatorConfiguration, seed: UInt64, origin: Date, traceLimit: Int) {
        context = WorldContext(configuration: configuration, seed: seed, origin: origin, traceLimit: traceLimit)
        air = Air(seed: seed)
        air.allowLosses(at: configuration.packetLossRate)
    }
}
