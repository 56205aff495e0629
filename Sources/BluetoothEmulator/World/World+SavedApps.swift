import BluetoothBackend

// Apps of a saved world: what its hosts keep for managers that are still to come.
extension World {
    /// Takes over what a described host keeps; the devices are there.
    mutating func keepApps(of description: HostDescription, on host: Int) {
        for central in description.centrals { keep(central, on: host) }
        for peripheral in description.peripherals { keep(peripheral, on: host) }
    }

    private mutating func keep(_ saved: SavedCentral, on host: Int) {
        lastKeeper += 1
        let keeper = Ref<Manager>(slot: .max, serial: lastKeeper)
        var preserved = PreservedCentral(keeper: keeper)
        preserved.scan = saved.scan
        for (index, peer) in saved.peers.enumerated() {
            let ref = devices.refs.first { ref in
                devices[ref].map { $0.name == peer.device || $0.address.description == peer.device } ?? false
            }
            guard let device = ref.flatMap({ devices[$0] }) else {
                trace.note("there is no device \"\(peer.device)\" to be kept connected", at: now)
                continue
            }
            let id = device.identities[host]
            let operation = OperationID(rawValue: UInt64(index + 1))
            hosts[host].peers[id] = Host.KnownPeer(address: device.address, deviceName: device.name)
            hosts[host].peers.noteUse(of: id)
            preserved.peers.append(
                PreservedCentral.Peer(
                    id: id, operation: operation, options: ConnectOptions(),
                    notifying: peer.subscriptions.compactMap { device.database.characteristic(CharacteristicPath($0)) }
                ))
            if hosts[host].isOn { dial(host, keeper, id, operation, ConnectOptions()) }
        }
        hosts[host].preservedCentrals[saved.identifier] = preserved
    }

    private mutating func keep(_ saved: SavedPeripheral, on host: Int) {
        openServer(of: host)
        guard let server = hosts[host].server else { return }
        lastKeeper += 1
        let keeper = Ref<Manager>(slot: .max, serial: lastKeeper)
        let advertisement = saved.advertisement?.advertisement(isConnectable: nil)
        var kept = PreservedPeripheral(advertisement: advertisement, owner: keeper)
        for service in saved.definitions {
            do {
                _ = try devices[server]?.database.publish(service, by: keeper, &kept.published)
                kept.services.append(service)
            } catch {
                trace.note("service \(service.uuid) not kept: \(error)", at: now)
            }
        }
        hosts[host].preservedPeripherals[saved.identifier] = kept
        if let advertisement { startAdvertising(advertisement, nil, keeper, server) }
    }

    /// A link is up: who keeps it for an app that is away subscribes for it.
    mutating func subscribeForKeepers(on ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        for identifier in hosts[link.host].preservedCentrals.keys.sorted() {
            guard let preserved = hosts[link.host].preservedCentrals[identifier], let keeper = preserved.keeper,
                let peer = preserved.peers.first(where: { $0.id == link.peer })
            else { continue }
            for attribute in peer.notifying {
                enqueue(
                    LinkOperation(
                        manager: keeper, link: LinkID(rawValue: 0), operation: OperationID(rawValue: 0),
                        kind: .request(.setNotifying(attribute, true))), on: ref)
            }
        }
    }
}
