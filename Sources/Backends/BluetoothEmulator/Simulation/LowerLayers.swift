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

    /// Returns the attributes that the device of a link serves; nil if the device was removed.
    func database(of link: Link) -> AttributeDatabase? { air.devices[link.device]?.server.database }

    /// Returns the end of a link that is a host outside of the emulator, which pairs by its own Security Manager; nil without
    /// one.
    func externalSide(of link: Link) -> LinkSide? {
        guard !hosts[link.host].managers.contains(where: hosts.isExternal) else { return .central }
        guard let device = air.devices[link.device] else { return nil }
        return device.handler.isExternal ? .peripheral : nil
    }

    /// Schedules what follows from a packet with a connection event of a link, or a later one if the packet is lost.
    mutating func schedule(_ event: WorldEvent, on ref: Ref<Link>, _ link: Link, at due: Nanoseconds) {
        context.queue.schedule(event, at: due + links.retransmissionTime(on: ref, link, &air, &context))
    }
}
