package import BluetoothBackend

extension PeripheralCommand: TraceMessage {
    package static var direction: TraceEntry.Direction { .command }

    package func teach(_ names: inout TraceNames, role: Int) {
        if case .addService(_, let service) = self { names.learn(service, role: role) }
    }

    package func write(to line: inout TraceLine) {
        line.add(operation: operation)
        line.add("channel", channel)
        switch self {
        case .addService(_, let service):
            line.add("service", attribute: service.id)
            line.add("characteristics", attributes: service.characteristics.map(\.id))
        case .removeService(let service): line.add("service", attribute: service)
        case .startAdvertising(_, let advertisement): line.add(advertisement)
        case .respond(let request, let attCode, let value):
            line.add("request", request)
            line.add("attribute", attributeOf: request)
            line.add("attCode", attCode)
            line.add(value: value)
        case .updateValue(let attribute, let value, let centrals):
            line.add("attribute", attribute: attribute)
            line.add(value: value)
            line.add("centrals", peers: centrals)
        case .setConnectionLatency(let central, let latency):
            line.add("central", peer: central)
            line.add("latency", latency.rawValue)
        case .publishChannel(_, let isEncryptionRequired): line.add("isEncryptionRequired", isEncryptionRequired)
        case .unpublishChannel(_, let psm): line.add("psm", psm)
        case .channel(_, let command): line.add(command)
        case .removeAllServices, .stopAdvertising: break
        }
    }
}

extension PeripheralEvent: TraceMessage {
    package static var direction: TraceEntry.Direction { .event }

    package func teach(_ names: inout TraceNames, role: Int) {
        switch self {
        case .restored(let state): for service in state.services { names.learn(service, role: role) }
        case .readRequested(let request, _, let attribute, _, _): names.learn(request, about: attribute, role: role)
        case .writeRequested(let request, _, _, _, let parts):
            if let first = parts.first { names.learn(request, about: first.attribute, role: role) }
        default: break
        }
    }

    package func write(to line: inout TraceLine) {
        line.add(operation: operation)
        line.add("central", peer: central)
        line.add("channel", channel)
        switch self {
        case .stateChanged(let state): line.add("state", state.rawValue)
        case .authorizationChanged(let status): line.add("status", status.rawValue)
        case .restored(let state): line.add("services", attributes: state.services.map(\.id))
        case .subscribed(_, let attribute, let mtu, let credits):
            line.add("attribute", attribute: attribute)
            line.add("mtu", mtu)
            line.add("credits", credits)
        case .unsubscribed(_, let attribute): line.add("attribute", attribute: attribute)
        case .notifyCredits(_, let count): line.add("count", count)
        case .mtuChanged(_, let mtu): line.add("mtu", mtu)
        case .readRequested(let request, _, let attribute, let offset, _):
            line.add("request", request)
            line.add("attribute", attribute: attribute)
            line.add("offset", offset)
        case .writeRequested(let request, _, _, let wantsResponse, let parts):
            line.add("request", request)
            line.add("wantsResponse", wantsResponse)
            for part in parts {
                line.add("attribute", attribute: part.attribute)
                line.add("offset", part.offset)
                line.add(value: part.value)
            }
        case .requestExpired(let request):
            line.add("request", request)
            line.add("attribute", attributeOf: request)
        case .channelPublished(_, let psm), .channelUnpublished(_, let psm): line.add("psm", psm)
        case .channelOpened(_, let psm, _, let credits):
            line.add("psm", psm)
            line.add("credits", credits)
        case .channel(_, let event): line.add(event)
        case .operationFailed(_, let error): line.add(error)
        case .serviceAdded, .advertisingStarted, .advertisingEnded: break
        }
    }
}
