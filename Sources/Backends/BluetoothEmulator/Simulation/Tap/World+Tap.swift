import BluetoothBackend

// What the taps receive about the world as a whole.
extension World {
    /// The events that describe the present world, for a new tap.
    var presentState: [TapEvent] {
        var kinds = hosts.indices.map { TapEvent.Kind.hostAdded(hosts[$0].tapped($0)) }
        for host in hosts.indices { kinds += security.bonds(of: host, air, hosts).map { .bondMade(host: host, $0) } }
        for ref in air.devices.refs {
            guard let device = air.devices[ref] else { continue }
            kinds.append(.deviceAdded(device.tapped(ref)))
            kinds.append(.servicesChanged(device: ref.serial, device.server.database.tappedServices))
        }
        kinds += links.refs.compactMap { tappedConnection($0).map(TapEvent.Kind.connectionOpened) }
        return (kinds + [.began]).map(context.event)
    }
}
