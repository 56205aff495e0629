import BluetoothBackend
import FoundationEssentials

// At least one sample of each command and event.
extension Samples {
    static let centralCommands: [CentralCommand] = [
        .startScan(ScanParameters(services: ["180D"], allowDuplicates: true)), .startScan(ScanParameters()), .stopScan,
        .connect(peer: peer, operation: operation, options: ConnectOptions(autoReconnect: true)),
        .disconnect(peer: peer),
        .setConnectionEventFilter(ConnectionEventFilter(services: ["180D"], peers: [peer])),
        .setConnectionEventFilter(nil),
        .request(link: link, operation: operation, .readRSSI),
        .request(link: link, operation: operation, .discoverServices(nil)),
        .request(link: link, operation: operation, .discoverServices([heartRate])),
        .request(link: link, operation: operation, .discoverIncludedServices(of: attribute, [])),
        .request(link: link, operation: operation, .discoverCharacteristics(of: attribute, [measurement])),
        .request(link: link, operation: operation, .discoverDescriptors(of: attribute)),
        .request(link: link, operation: operation, .read(attribute)),
        .request(link: link, operation: operation, .write(attribute, value)),
        .request(link: link, operation: operation, .write(attribute, value, offset: 3)),
        .writeCommand(link: link, attribute: attribute, value: Data()),
        .request(link: link, operation: operation, .setNotifying(attribute, true)),
        .request(link: link, operation: operation, .openChannel(psm: 0x80)),
        .channel(channel, .send(value)), .channel(channel, .consumed(17)),
        .channel(channel, .close),
    ]

    static let centralEvents: [CentralEvent] = [
        .stateChanged(.poweredOn), .authorizationChanged(.denied), .restored(restoredCentral), .discovered(discovery),
        .connected(
            peer: peer, link: link, operation: operation, parameters: LinkParameters(mtu: 517, writeCredits: 10)),
        .connectFailed(peer: peer, operation: operation, error: error),
        .disconnected(link: link, reason: .timeout, at: date, isReconnecting: true),
        .nameChanged(peer: peer, name: "Name", source: .gap), .nameChanged(peer: peer, name: nil, source: .advertised),
        .peerForgotten(peer: peer), .connectionEvent(peer: peer, isConnected: true),
        .ancsAuthorizationChanged(peer: peer, isAuthorized: false), .mtuChanged(link: link, mtu: 185),
        .writeCredits(link: link, count: 3), .servicesChanged(link: link, removed: [attribute], added: [service]),
        .response(link: link, operation: operation, .rssi(-60)),
        .response(link: link, operation: operation, .services([service])),
        .response(link: link, operation: operation, .characteristics([characteristic])),
        .response(link: link, operation: operation, .descriptors([descriptor])),
        .response(link: link, operation: operation, .value(value)),
        .response(link: link, operation: operation, .written),
        .response(link: link, operation: operation, .notifying(true)),
        .valueNotified(link: link, attribute: attribute, value: value),
        .subscriptionEnded(link: link, attribute: attribute, error: error),
        .response(link: link, operation: operation, .channel(channel, credits: 4096)),
        .channel(channel, .received(value)), .channel(channel, .credits(99)),
        .channel(channel, .closed),
        .response(link: link, operation: operation, .failure(BackendError(.notConnected, operation: "Read"))),
    ]

    static let peripheralCommands: [PeripheralCommand] = [
        .addService(operation: operation, service: definition), .removeService(attribute), .removeAllServices,
        .startAdvertising(operation: operation, advertisement: advertisement), .stopAdvertising,
        .respond(request: request, attCode: 0, value: value), .respond(request: request, attCode: 0x0E, value: nil),
        .updateValue(attribute: attribute, value: value, centrals: [peer]),
        .setConnectionLatency(central: peer, latency: .high),
        .publishChannel(operation: operation, isEncryptionRequired: true),
        .unpublishChannel(operation: operation, psm: 0x81), .channel(channel, .send(value)),
        .channel(channel, .consumed(1)), .channel(channel, .close),
    ]

    static let peripheralEvents: [PeripheralEvent] = [
        .stateChanged(.unsupported), .authorizationChanged(.allowed), .restored(restoredPeripheral),
        .serviceAdded(operation: operation), .advertisingStarted(operation: operation), .advertisingEnded,
        .subscribed(central: peer, attribute: attribute, mtu: 185, notifyCredits: 4),
        .unsubscribed(central: peer, attribute: attribute), .notifyCredits(central: peer, count: 2),
        .mtuChanged(central: peer, mtu: 517),
        .readRequested(request: request, central: peer, attribute: attribute, offset: 22, mtu: 23),
        .writeRequested(
            request: request, central: peer, mtu: 23, wantsResponse: true,
            parts: [WritePart(attribute: attribute, offset: 0, value: value)]),
        .requestExpired(request: request), .channelPublished(operation: operation, psm: 0x80),
        .channelUnpublished(operation: operation, psm: 0x80),
        .channelOpened(channel: channel, psm: 0x80, central: peer, credits: 100),
        .channel(channel, .received(value)), .channel(channel, .credits(5)),
        .channel(channel, .closed), .operationFailed(operation: operation, error: error),
    ]

    static let pairingCommands: [PairingCommand] = [
        .setCapability(.displayYesNo), .pair(peer: peer, operation: operation),
        .unpair(peer: peer, operation: operation),
        .answer(request: PairingRequestID(rawValue: 1), answer: .accept),
        .answer(request: PairingRequestID(rawValue: 1), answer: .passkey(123_456)),
    ]

    static let pairingEvents: [PairingEvent] = [
        .requested(request: PairingRequestID(rawValue: 1), peer: peer, question: .confirm(passkey: 42)),
        .cancelled(request: PairingRequestID(rawValue: 1)),
        .paired(peer: peer, operation: nil, isBonded: true),
        .pairingFailed(peer: peer, operation: operation, error: error), .unpaired(peer: peer, operation: operation),
    ]
}
