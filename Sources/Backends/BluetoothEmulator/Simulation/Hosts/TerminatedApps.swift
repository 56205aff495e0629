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
    /// The number under which the services stay published; nil if a test provided the state.
    var owner: Ref<Manager>?
}

// The apps of a described world, as state that its hosts preserve for later hosts.managers.
extension World {
    /// Preserves the states of a described host, after the devices have been added.
    mutating func preserveApps(of description: HostDescription, on host: Int) {
        for central in description.centrals { preserve(central, on: host) }
        for peripheral in description.peripherals { preserve(peripheral, on: host) }
    }

    private mutating func preserve(_ description: PreservedCentralDescription, on host: Int) {
        let placeholder = context.identifiers.nextPlaceholder()
        var preserved = TerminatedCentral(placeholder: placeholder)
        preserved.scan = description.scan
        for (index, peer) in description.peers.enumerated() {
            let ref: Ref<Device>
            do throws(DescriptionError) {
                ref = try described(peer.device)
            } catch {
                context.log("no device is kept connected: \(error)")
                continue
            }
            guard let device = air.devices[ref] else { continue }
            let id = device.identity.peers[host]
            let operation = OperationID(rawValue: UInt64(index + 1))
            hosts[host].peers[id] = KnownPeer(address: device.identity.address, deviceName: device.description.name)
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
        hosts[host].terminatedApps.centrals[description.identifier] = preserved
    }

    /// Returns the device with a name or an address.
    private func described(_ name: String) throws(DescriptionError) -> Ref<Device> {
        let refs = air.described
        let descriptions = refs.compactMap { ref in
            air.devices[ref].map { PeripheralDescription(name: $0.description.name, address: $0.identity.address) }
        }
        return refs[try descriptions.index(of: name, path: "")]
    }

    private mutating func preserve(_ description: PreservedPeripheralDescription, on host: Int) {
        openServer(of: host)
        guard let server = hosts[host].server else { return }
        let placeholder = context.identifiers.nextPlaceholder()
        let advertisement = description.advertisement?.advertisement(isConnectable: nil)
        var preserved = TerminatedPeripheral(
            publication: ManagerPublication(advertisement: advertisement), owner: placeholder)
        for service in description.definitions {
            do {
                _ = try air.devices[server]?.server.database.publish(
                    service, by: placeholder, &preserved.publication.attributes)
                preserved.publication.services.append(service)
            } catch {
                context.log("service \(service.uuid) not kept: \(error)")
            }
        }
        hosts[host].terminatedApps.peripherals[description.identifier] = preserved
        if let advertisement { startAdvertising(advertisement, nil, placeholder, server) }
    }

    /// Restores the subscriptions of terminated apps on a new link.
    mutating func subscribeForTerminatedApps(on ref: Ref<Link>) {
        guard let link = links[ref] else { return }
        for identifier in hosts[link.host].terminatedApps.centrals.keys.sorted() {
            guard let preserved = hosts[link.host].terminatedApps.centrals[identifier],
                let placeholder = preserved.placeholder,
                let peer = preserved.peers.first(where: { $0.id == link.peer })
            else { continue }
            for attribute in peer.notifying {
                enqueue(LinkOperation(manager: placeholder, kind: .request(.setNotifying(attribute, true))), on: ref)
            }
        }
    }
}
