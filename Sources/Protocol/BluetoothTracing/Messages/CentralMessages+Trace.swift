package import BluetoothBackend

extension CentralCommand: TraceMessage {
    package static var direction: TraceEntry.Direction { .command }

    package func teach(_ names: inout TraceNames, role: Int) {
        guard case .request(let link, let operation, let request) = self, let attribute = request.attribute else {
            return
        }
        names.learn(operation, about: attribute, on: link, role: role)
    }

    package func write(to line: inout TraceLine) {
        line.add("peer", peer: peer)
        line.add(link: link)
        line.add(operation: operation)
        line.add("channel", channel)
        switch self {
        case .startScan(let parameters): line.add(parameters)
        case .connect(_, _, let options): line.add("autoReconnect", options.autoReconnect)
        case .setConnectionEventFilter(let filter):
            line.add("services", list: filter?.services)
            line.add("peers", peers: filter?.peers)
        case .request(_, _, let request): line.add(request)
        case .writeCommand(_, let attribute, let value):
            line.add("attribute", attribute: attribute)
            line.add(value: value)
        case .channel(_, let command): line.add(command)
        case .stopScan, .disconnect: break
        }
    }
}

extension TraceLine {
    fileprivate mutating func add(_ scan: ScanParameters) {
        add("services", list: scan.services)
        if !scan.solicitedServices.isEmpty { add("solicited", list: scan.solicitedServices) }
        add("duplicates", scan.allowDuplicates)
    }

    fileprivate mutating func add(_ request: LinkRequest) {
        switch request {
        case .readRSSI: break
        case .discoverServices(let uuids): add("uuids", list: uuids)
        case .discoverIncludedServices(let service, let uuids), .discoverCharacteristics(let service, let uuids):
            add("service", attribute: service)
            add("uuids", list: uuids)
        case .discoverDescriptors(let characteristic): add("characteristic", attribute: characteristic)
        case .read(let attribute): add("attribute", attribute: attribute)
        case .write(let attribute, let value, let offset):
            add("attribute", attribute: attribute)
            if offset > 0 { add("offset", offset) }
            add(value: value)
        case .setNotifying(let attribute, let isEnabled):
            add("attribute", attribute: attribute)
            add("enabled", isEnabled)
        case .openChannel(let psm): add("psm", psm)
        }
    }

    /// Adds the response, with the attribute of its request.
    fileprivate mutating func add(_ response: LinkResponse, to operation: OperationID) {
        switch response {
        case .services, .characteristics: add("service", attributeOf: operation)
        case .descriptors: add("characteristic", attributeOf: operation)
        default: add("attribute", attributeOf: operation)
        }
        switch response {
        case .rssi(let rssi): add(rssi: rssi)
        case .services(let services): add("services", attributes: services.map(\.id))
        case .characteristics(let found): add("characteristics", attributes: found.map(\.id))
        case .descriptors(let found): add("descriptors", attributes: found.map(\.id))
        case .value(let value): add(value: value)
        case .notifying(let isNotifying): add("isNotifying", isNotifying)
        case .channel(_, let credits): add("credits", credits)
        case .failure(let error): add(error)
        case .written: break
        }
    }
}

extension CentralEvent: TraceMessage {
    package static var direction: TraceEntry.Direction { .event }

    package func teach(_ names: inout TraceNames, role: Int) {
        switch self {
        case .discovered(let discovery):
            names.learn(discovery.peer, discovery.name ?? discovery.advertisement.localName)
        case .nameChanged(let peer, let name, _): names.learn(peer, name)
        case .connected(let peer, let link, _, _): names.learn(link, to: peer, role: role)
        case .restored(let state): for peer in state.peers { peer.teach(&names, role: role) }
        case .servicesChanged(let link, _, let added):
            names.learn(added.map { .service($0) }, within: nil, on: link, role: role)
        case .response(let link, let operation, let response):
            names.learn(response, to: operation, on: link, role: role)
        default: break
        }
    }

    package func write(to line: inout TraceLine) {
        line.add("peer", peer: peer)
        line.add(link: link)
        line.add(operation: operation)
        line.add("channel", channel)
        switch self {
        case .stateChanged(let state): line.add("state", state.rawValue)
        case .authorizationChanged(let status): line.add("status", status.rawValue)
        case .restored(let state):
            line.add("peers", peers: state.peers.map(\.summary.id))
            if let scan = state.scan { line.add(scan) }
        case .discovered(let discovery):
            line.add(rssi: discovery.rssi)
            line.add("address", private: discovery.address)
            line.add(discovery.advertisement)
        case .nameChanged(_, let name, let source):
            line.add("name", quoted: name)
            line.add("source", source.rawValue)
        case .connectionEvent(_, let isConnected): line.add("isConnected", isConnected)
        case .ancsAuthorizationChanged(_, let isAuthorized): line.add("isAuthorized", isAuthorized)
        case .channel(_, let event): line.add(event)
        case .peerForgotten: break
        default: writeLink(to: &line)
        }
    }

    private func writeLink(to line: inout TraceLine) {
        switch self {
        case .connected(_, _, _, let parameters):
            line.add("mtu", parameters.mtu)
            line.add("credits", parameters.writeCredits)
        case .connectFailed(_, _, let error): line.add(error)
        case .disconnected(_, let reason, _, let isReconnecting, _):
            line.add("reason", reason.rawValue)
            line.add("isReconnecting", isReconnecting)
        case .mtuChanged(_, let mtu): line.add("mtu", mtu)
        case .writeCredits(_, let count): line.add("count", count)
        case .servicesChanged(_, let removed, let added):
            line.add("removed", attributes: removed)
            line.add("added", attributes: added.map(\.id))
        case .valueNotified(_, let attribute, let value):
            line.add("attribute", attribute: attribute)
            line.add(value: value)
        case .subscriptionEnded(_, let attribute, let error):
            line.add("attribute", attribute: attribute)
            line.add(error)
        case .response(_, let operation, let response): line.add(response, to: operation)
        default: break
        }
    }
}

extension RestoredCentralState.Peer {
    fileprivate func teach(_ names: inout TraceNames, role: Int) {
        names.learn(summary.id, summary.name)
        guard let link else { return }
        names.learn(link, to: summary.id, role: role)
        for service in services {
            names.learn([.service(service.record)], within: nil, on: link, role: role)
            let found = service.characteristics.map { AttributeRecord.characteristic($0) }
            names.learn(found, within: service.record.id, on: link, role: role)
        }
    }
}
