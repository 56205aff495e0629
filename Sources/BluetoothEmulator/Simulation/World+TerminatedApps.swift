import BluetoothBackend

// Apps of a saved world: what its hosts keep for managers that are still to come.
extension World {
    /// Takes over what a described host keeps; the devices are there.
    mutating func keepApps(of description: HostDescription, on host: Int) {
        for central in description.centrals { keep(central, on: host) }
        for peripheral in description.peripherals { keep(peripheral, on: host) }
    }

    private mutating func keep(_ saved: SavedCentral, on host: Int) {
        let placeholder = identifiers.nextPlaceholder()
        var preserved = TerminatedCentral(placeholder: placeholder)
        preserved.scan = saved.scan
        for (index, peer) in saved.peers.enumerated() {
            let ref = devices.refs.first { ref in
                devices[ref].map { $0.name == peer.device || $0.identity.address.description == peer.device } ?? false
            }
            guard let device = ref.flatMap({ devices[$0] }) else {
                trace.note("there is no device \"\(peer.device)\" to be kept connected", at: now)
                continue
            }
            let id = device.identity.peers[host]
            let operation = OperationID(rawValue: UInt64(index + 1))
            hosts[host].peers[id] = KnownPeer(address: device.identity.address, deviceName: device.name)
            hosts[host].peers.noteUse(of: id)
            preserved.peers.append(
                TerminatedCentral.Peer(
                    id: id, operation: operation, options: ConnectOptions(),
                    notifying: peer.subscriptions.compactMap {
                        device.server.database.characteristic(CharacteristicPath($0))
                    }
                ))
            if hosts[host].adapter.isOn { connect(host, placeholder, id, operation, ConnectOptions()) }
        }
        hosts[host].terminatedApps.centrals[saved.identifier] = preserved
    }

    private mutating func keep(_ saved: SavedPeripheral, on host: Int) {
        openServer(of: host)
        guard let server = hosts[host].server else { return }
        let placeholder = identifiers.nextPlaceholder()
        let advertisement = saved.advertisement?.advertisement(isConnectable: nil)
        var preserved = TerminatedPeripheral(
            publication: ManagerPublication(advertisement: advertisement), owner: placeholder)
        for service in saved.definitions {
            do {
                _ = try devices[server]?.server.database.publish(
                    service, by: placeholder, &preserved.publication.attributes)
                preserved.publication.services.append(service)
            } catch {
                trace.note("service \(service.uuid) not kept: \(error)", at: now)
            }
        }
        hosts[host].terminatedApps.peripherals[saved.identifier] = preserved
        if let advertisement { startAdvertising(advertisement, nil, placeholder, server) }
    }

    /// A link is up: who keeps it for an app that is away subscribes for it.
    mutating func subscribeForTerminatedApps(on ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        for identifier in hosts[link.host].terminatedApps.centrals.keys.sorted() {
            guard let preserved = hosts[link.host].terminatedApps.centrals[identifier],
                let placeholder = preserved.placeholder,
                let peer = preserved.peers.first(where: { $0.id == link.peer })
            else { continue }
            for attribute in peer.notifying {
                enqueue(
                    LinkOperation(
                        manager: placeholder, link: LinkID(rawValue: 0), operation: OperationID(rawValue: 0),
                        kind: .request(.setNotifying(attribute, true))), on: ref)
            }
        }
    }
}
