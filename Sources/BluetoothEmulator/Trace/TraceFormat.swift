import BluetoothBackend
import BluetoothSupport

/// Text of commands and events that is the same in each process: nothing of it depends on hashing, on the locale or
/// on the wall clock.
enum TraceFormat {
    static func text(_ input: WorldInput) -> String {
        switch input {
        case .central(let manager, let command): "central \(manager.serial) \(text(command))"
        case .peripheral(let manager, let command): "peripheral \(manager.serial) \(text(command))"
        case .activate(let manager): "manager \(manager.serial) activate"
        case .pairing(let manager, let command): "pairing \(manager.serial) \(text(command))"
        case .device(let device, let control): "device \(device.serial) \(text(control))"
        case .host(let host, let control): "host \(host) \(text(control))"
        case .deviceAdded(let device): "device \(device.serial) added"
        case .answered(_, let request, let response): "answer \(request) \(text(response))"
        }
    }

    static func text(_ command: CentralCommand) -> String {
        switch command {
        case .startScan(let scan):
            "startScan services=\(text(scan.services)) solicited=\(text(scan.solicitedServices))"
                + " duplicates=\(scan.allowDuplicates)"
        case .stopScan: "stopScan"
        case .connect(let peer, let operation, let options):
            "connect \(peer) #\(operation)\(options.autoReconnect ? " autoReconnect" : "")"
        case .disconnect(let peer): "disconnect \(peer)"
        case .setConnectionEventFilter(let filter):
            "setConnectionEventFilter \(filter.map { "services=\(text($0.services)) peers=\($0.peers)" } ?? "none")"
        case .request(let link, let operation, let request):
            "\(command.kind.rawValue) \(link) #\(operation)\(text(request))"
        case .writeCommand(let link, let attribute, let value): "writeCommand \(link) @\(attribute) \(text(value))"
        case .channel(let channel, .send(let data)): "sendOnChannel \(channel) \(text(data))"
        case .channel(let channel, .consumed(let bytes)): "channelConsumed \(channel) \(bytes)"
        case .channel(let channel, .close): "closeChannel \(channel)"
        }
    }

    static func text(_ event: CentralEvent) -> String {
        switch event {
        case .stateChanged(let state): "stateChanged \(state.rawValue)"
        case .authorizationChanged(let status): "authorizationChanged \(status.rawValue)"
        case .restored(let state): "restored peers=\(state.peers.map(\.summary.id))"
        case .discovered(let discovery): "discovered \(text(discovery))"
        case .connected(let peer, let link, let operation, let parameters):
            "connected \(peer) \(link) #\(operation) mtu=\(parameters.mtu) credits=\(parameters.writeCredits)"
        case .connectFailed(let peer, let operation, let error): "connectFailed \(peer) #\(operation) \(error)"
        case .disconnected(let link, let reason, _, let isReconnecting):
            "disconnected \(link) \(reason.rawValue)\(isReconnecting ? " reconnecting" : "")"
        case .nameChanged(let peer, let name, let source): "nameChanged \(peer) \(name ?? "-") \(source.rawValue)"
        case .peerForgotten(let peer): "peerForgotten \(peer)"
        case .connectionEvent(let peer, let isConnected): "connectionEvent \(peer) \(isConnected)"
        case .ancsAuthorizationChanged(let peer, let isAuthorized):
            "ancsAuthorizationChanged \(peer) \(isAuthorized)"
        case .mtuChanged(let link, let mtu): "mtuChanged \(link) \(mtu)"
        case .writeCredits(let link, let count): "writeCredits \(link) \(count)"
        case .servicesChanged(let link, let removed, let added):
            "servicesChanged \(link) removed=\(removed) added=\(added.map { "@\($0.id) \($0.uuid)" })"
        case .channel(let channel, .received(let data)): "channelReceived \(channel) \(text(data))"
        case .channel(let channel, .credits(let count)): "channelCredits \(channel) \(count)"
        case .channel(let channel, .closed): "channelClosed \(channel)"
        case .valueNotified(let link, let attribute, let value):
            "valueNotified \(link) @\(attribute) \(text(value))"
        case .response(let link, let operation, let response):
            "\(event.kind.rawValue) \(link) #\(operation)\(text(response))"
        }
    }

    private static func text(_ request: LinkRequest) -> String {
        switch request {
        case .readRSSI: ""
        case .discoverServices(let uuids): " \(text(uuids))"
        case .discoverIncludedServices(let service, let uuids), .discoverCharacteristics(let service, let uuids):
            " @\(service) \(text(uuids))"
        case .discoverDescriptors(let attribute), .read(let attribute): " @\(attribute)"
        case .write(let attribute, let value): " @\(attribute) \(text(value))"
        case .setNotifying(let attribute, let isEnabled): " @\(attribute) \(isEnabled)"
        case .openChannel(let psm): " \(psm)"
        }
    }

    private static func text(_ response: LinkResponse) -> String {
        switch response {
        case .rssi(let rssi): " \(rssi)"
        case .services(let services): " \(services.map { "@\($0.id) \($0.uuid)" })"
        case .characteristics(let found): " \(found.map { "@\($0.id) \($0.uuid)" })"
        case .descriptors(let found): " \(found.map { "@\($0.id) \($0.uuid)" })"
        case .value(let value): " \(text(value))"
        case .written: ""
        case .notifying(let isNotifying): " \(isNotifying)"
        case .channel(let channel, let credits): " \(channel) \(credits)"
        case .failure(let error): " \(error)"
        }
    }

    private static func text(_ discovery: Discovery) -> String {
        let advertisement = discovery.advertisement
        var parts = ["\(discovery.peer) rssi=\(discovery.rssi)"]
        if let name = advertisement.localName { parts.append("name=\(name)") }
        if let power = advertisement.txPowerLevel { parts.append("tx=\(power)") }
        if let services = advertisement.serviceUUIDs { parts.append("services=\(text(services))") }
        if let services = advertisement.solicitedServiceUUIDs { parts.append("solicited=\(text(services))") }
        if let data = advertisement.serviceData {
            parts += data.sorted { $0.key < $1.key }.map { "data[\($0.key)]=\(text($0.value))" }
        }
        if let data = advertisement.manufacturerData { parts.append("manufacturer=\(text(data))") }
        if let isConnectable = advertisement.isConnectable { parts.append("connectable=\(isConnectable)") }
        return parts.joined(separator: " ")
    }

    private static func text(_ control: DeviceControl) -> String {
        switch control {
        case .notify(let path, let value): "notify \(text(path)) \(text(value))"
        case .setValue(let path, let value): "setValue \(text(path)) \(text(value))"
        case .setParameter(let parameter, let value): "setParameter \(parameter.rawValue) \(value)"
        case .hold(let path, let isHeld): "hold \(text(path)) \(isHeld)"
        case .setAdvertising(let index, _): "setAdvertising \(index)"
        case .addService(let service): "addService \(service.uuid)"
        case .setPairing(let pairing): "setPairing \(pairing.capability.rawValue) \(pairing.answer.rawValue)"
        case .send(let channel, let data): "send \(channel) \(text(data))"
        case .loseBonds(let host): "loseBonds \(host?.description ?? "all")"
        default: "\(control)"
        }
    }

    private static func text(_ control: HostControl) -> String {
        switch control {
        case .bond(let device): "bond device \(device.serial)"
        case .preserveCentral(let state, let identifier):
            "preserve \(identifier) peers=\(state.peers.map(\.summary.id))"
        case .preservePeripheral(let state, let identifier):
            "preserve \(identifier) services=\(state.services.map(\.uuid.text))"
        default: "\(control)"
        }
    }

    private static func text(_ response: PeripheralResponse) -> String {
        switch response {
        case .value(let value): "value \(text(value))"
        case .error(let code): "error \(code.rawValue)"
        case .stored: "stored"
        case .accepted: "accepted"
        case .unanswered: "unanswered"
        }
    }

    private static func text(_ path: CharacteristicPath) -> String {
        [path.service?.text, path.uuid.text, path.index == 0 ? nil : "#\(path.index)"].compactMap { $0 }
            .joined(separator: " ")
    }

    static func text(_ uuids: [BluetoothUUID]?) -> String {
        uuids.map { "[" + $0.map(\.text).joined(separator: " ") + "]" } ?? "all"
    }

    static func text(_ value: Data) -> String {
        value.isEmpty ? "-" : value.hexText
    }
}
