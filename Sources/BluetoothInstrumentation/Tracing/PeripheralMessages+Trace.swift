import BluetoothBackend

extension PeripheralCommand: Traceable {
    var traceName: String { kind.rawValue }

    var traceCategory: TraceCategory {
        switch kind {
        case .respond, .updateValue, .sendOnChannel, .channelConsumed: .data
        case .addService, .removeService, .removeAllServices: .configuration
        default: .command
        }
    }

    func trace(to line: inout TraceLine) {
        switch self {
        case .addService(let operation, let service):
            line.add("operation", operation)
            line.add("service", "\(service.id):\(service.uuid)")
            line.add("characteristics", list: service.characteristics.map { "\($0.id):\($0.uuid)" })
        case .removeService(let service): line.add("service", service)
        case .startAdvertising(let operation, let advertisement):
            line.add("operation", operation)
            line.add(advertisement)
        case .respond(let request, let attCode, let value):
            line.add("request", request)
            line.add("attCode", attCode)
            line.add("value", private: value)
        case .updateValue(let attribute, let value, let centrals):
            line.add("attribute", attribute)
            line.add("value", private: value)
            line.add("centrals", list: centrals)
        case .setConnectionLatency(let central, let latency):
            line.add("central", central)
            line.add("latency", latency.rawValue)
        case .publishChannel(let operation, let isEncryptionRequired):
            line.add("operation", operation)
            line.add("isEncryptionRequired", isEncryptionRequired)
        case .unpublishChannel(let operation, let psm):
            line.add("operation", operation)
            line.add("psm", psm)
        case .channel(let channel, let command):
            line.add("channel", channel)
            line.add(command)
        case .removeAllServices, .stopAdvertising: break
        }
    }
}

extension PeripheralEvent: Traceable {
    var traceName: String { kind.rawValue }

    var traceCategory: TraceCategory {
        switch kind {
        case .readRequested, .writeRequested, .requestExpired, .notifyCredits, .channelReceived, .channelCredits: .data
        default: .callback
        }
    }

    func trace(to line: inout TraceLine) {
        line.add("operation", operation)
        line.add("central", central)
        switch self {
        case .stateChanged(let state): line.add("state", state.rawValue)
        case .authorizationChanged(let status): line.add("status", status.rawValue)
        case .restored(let state): line.add("services", list: state.services.map(\.uuid))
        case .subscribed(_, let attribute, let mtu, let credits):
            line.add("attribute", attribute)
            line.add("mtu", mtu)
            line.add("credits", credits)
        case .unsubscribed(_, let attribute): line.add("attribute", attribute)
        case .notifyCredits(_, let count): line.add("count", count)
        case .mtuChanged(_, let mtu): line.add("mtu", mtu)
        case .readRequested(let request, _, let attribute, let offset, _):
            line.add("request", request)
            line.add("attribute", attribute)
            line.add("offset", offset)
        case .writeRequested(let request, _, _, let wantsResponse, let parts):
            line.add("request", request)
            line.add("wantsResponse", wantsResponse)
            for part in parts { line.add("\(part.attribute)@\(part.offset)", private: part.value) }
        case .requestExpired(let request): line.add("request", request)
        case .channelPublished(_, let psm), .channelUnpublished(_, let psm): line.add("psm", psm)
        case .channelOpened(let channel, let psm, _, let credits):
            line.add("channel", channel)
            line.add("psm", psm)
            line.add("credits", credits)
        case .channel(let channel, let event):
            line.add("channel", channel)
            line.add(event)
        case .operationFailed(_, let error): line.add(error)
        case .serviceAdded, .advertisingStarted, .advertisingEnded: break
        }
    }
}
