import BluetoothBackend
import BluetoothSupport

extension TraceFormat {
    static func text(_ command: PeripheralCommand) -> String {
        switch command {
        case .addService(let operation, let service): "addService #\(operation) @\(service.id) \(service.uuid)"
        case .removeService(let id): "removeService @\(id)"
        case .removeAllServices: "removeAllServices"
        case .startAdvertising(let operation, let advertisement):
            "startAdvertising #\(operation) name=\(advertisement.localName ?? "-")"
                + " services=\(text(advertisement.serviceUUIDs ?? []))"
        case .stopAdvertising: "stopAdvertising"
        case .respond(let request, let code, let value):
            "respond \(request) \(code)\(value.map { " " + text($0) } ?? "")"
        case .updateValue(let attribute, let value, let centrals):
            "updateValue @\(attribute) \(text(value)) centrals=\(centrals.map { "\($0)" } ?? "all")"
        case .setConnectionLatency(let central, let latency):
            "setConnectionLatency \(central) \(latency.rawValue)"
        case .publishChannel(let operation, let isEncryptionRequired):
            "publishChannel #\(operation)\(isEncryptionRequired ? " encrypted" : "")"
        case .unpublishChannel(let operation, let psm): "unpublishChannel #\(operation) \(psm)"
        case .channel(let channel, .send(let data)): "sendOnChannel \(channel) \(text(data))"
        case .channel(let channel, .consumed(let bytes)): "channelConsumed \(channel) \(bytes)"
        case .channel(let channel, .close): "closeChannel \(channel)"
        }
    }

    static func text(_ event: PeripheralEvent) -> String {
        switch event {
        case .stateChanged(let state): "stateChanged \(state.rawValue)"
        case .authorizationChanged(let status): "authorizationChanged \(status.rawValue)"
        case .restored(let state): "restored services=\(state.services.map(\.uuid.text))"
        case .serviceAdded(let operation): "serviceAdded #\(operation)"
        case .advertisingStarted(let operation): "advertisingStarted #\(operation)"
        case .advertisingEnded: "advertisingEnded"
        case .subscribed(let central, let attribute, let mtu, let credits):
            "subscribed \(central) @\(attribute) mtu=\(mtu) credits=\(credits)"
        case .unsubscribed(let central, let attribute): "unsubscribed \(central) @\(attribute)"
        case .notifyCredits(let central, let count): "notifyCredits \(central) \(count)"
        case .mtuChanged(let central, let mtu): "mtuChanged \(central) \(mtu)"
        case .readRequested(let request, let central, let attribute, let offset, _):
            "readRequested \(request) \(central) @\(attribute) \(offset)"
        case .writeRequested(let request, let central, _, let wantsResponse, let parts):
            "writeRequested \(request) \(central)\(wantsResponse ? "" : " command") "
                + parts.map { "@\($0.attribute)+\($0.offset) \(text($0.value))" }.joined(separator: ", ")
        case .requestExpired(let request): "requestExpired \(request)"
        case .channelPublished(let operation, let psm): "channelPublished #\(operation) \(psm)"
        case .channelUnpublished(let operation, let psm): "channelUnpublished #\(operation) \(psm)"
        case .channelOpened(let channel, let psm, let central, let credits):
            "channelOpened \(channel) \(psm) \(central) \(credits)"
        case .channel(let channel, .received(let data)): "channelReceived \(channel) \(text(data))"
        case .channel(let channel, .credits(let count)): "channelCredits \(channel) \(count)"
        case .channel(let channel, .closed): "channelClosed \(channel)"
        case .operationFailed(let operation, let error): "operationFailed #\(operation) \(error)"
        }
    }
}
