import BluetoothBackend

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        case .readRSSI(let link, let operation): "readRSSI \(link) #\(operation)"
        case .discoverServices(let link, let operation, let uuids):
            "discoverServices \(link) #\(operation) \(text(uuids))"
        case .discoverIncludedServices(let link, let operation, let service, let uuids):
            "discoverIncludedServices \(link) #\(operation) @\(service) \(text(uuids))"
        case .discoverCharacteristics(let link, let operation, let service, let uuids):
            "discoverCharacteristics \(link) #\(operation) @\(service) \(text(uuids))"
        case .discoverDescriptors(let link, let operation, let characteristic):
            "discoverDescriptors \(link) #\(operation) @\(characteristic)"
        case .read(let link, let operation, let attribute): "read \(link) #\(operation) @\(attribute)"
        case .write(let link, let operation, let attribute, let value):
            "write \(link) #\(operation) @\(attribute) \(text(value))"
        case .writeCommand(let link, let attribute, let value): "writeCommand \(link) @\(attribute) \(text(value))"
        case .setNotifying(let link, let operation, let attribute, let enabled):
            "setNotifying \(link) #\(operation) @\(attribute) \(enabled)"
        case .openChannel(let link, let operation, let psm): "openChannel \(link) #\(operation) \(psm)"
        case .sendOnChannel(let channel, let data): "sendOnChannel \(channel) \(text(data))"
        case .channelConsumed(let channel, let bytes): "channelConsumed \(channel) \(bytes)"
        case .closeChannel(let channel): "closeChannel \(channel)"
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
        case .channelReceived(let channel, let data): "channelReceived \(channel) \(text(data))"
        case .channelCredits(let channel, let count): "channelCredits \(channel) \(count)"
        case .channelClosed(let channel): "channelClosed \(channel)"
        default: answer(event)
        }
    }

    private static func answer(_ event: CentralEvent) -> String {
        switch event {
        case .rssiRead(let link, let operation, let rssi): "rssiRead \(link) #\(operation) \(rssi)"
        case .servicesDiscovered(let link, let operation, let services):
            "servicesDiscovered \(link) #\(operation) \(services.map { "@\($0.id) \($0.uuid)" })"
        case .characteristicsDiscovered(let link, let operation, let found):
            "characteristicsDiscovered \(link) #\(operation) \(found.map { "@\($0.id) \($0.uuid)" })"
        case .descriptorsDiscovered(let link, let operation, let found):
            "descriptorsDiscovered \(link) #\(operation) \(found.map { "@\($0.id) \($0.uuid)" })"
        case .valueRead(let link, let operation, let value): "valueRead \(link) #\(operation) \(text(value))"
        case .written(let link, let operation): "written \(link) #\(operation)"
        case .notifyingChanged(let link, let operation, let isNotifying):
            "notifyingChanged \(link) #\(operation) \(isNotifying)"
        case .valueNotified(let link, let attribute, let value):
            "valueNotified \(link) @\(attribute) \(text(value))"
        case .channelOpened(let link, let operation, let channel, let credits):
            "channelOpened \(link) #\(operation) \(channel) \(credits)"
        case .operationFailed(let link, let operation, let error): "operationFailed \(link) #\(operation) \(error)"
        default: ""
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
