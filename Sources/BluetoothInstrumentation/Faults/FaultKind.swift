public import BluetoothBackend

/// A kind of command or event of the central or the peripheral role.
///
/// In JSON: `centralCommand.read`.
public enum FaultKind: Hashable, Sendable {
    /// A command of a central manager.
    case centralCommand(CentralCommand.Kind)
    /// An event of a central manager.
    case centralEvent(CentralEvent.Kind)
    /// A command of a peripheral manager.
    case peripheralCommand(PeripheralCommand.Kind)
    /// An event of a peripheral manager.
    case peripheralEvent(PeripheralEvent.Kind)
}

extension FaultKind: CustomStringConvertible {
    /// Role and direction, a dot, and the case's name.
    public var description: String {
        switch self {
        case .centralCommand(let kind): "centralCommand.\(kind.rawValue)"
        case .centralEvent(let kind): "centralEvent.\(kind.rawValue)"
        case .peripheralCommand(let kind): "peripheralCommand.\(kind.rawValue)"
        case .peripheralEvent(let kind): "peripheralEvent.\(kind.rawValue)"
        }
    }

    /// Reads the form of ``description``.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: Character("."), omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 2 else { return nil }
        let kind: FaultKind?
        switch parts[0] {
        case "centralCommand": kind = CentralCommand.Kind(rawValue: parts[1]).map { .centralCommand($0) }
        case "centralEvent": kind = CentralEvent.Kind(rawValue: parts[1]).map { .centralEvent($0) }
        case "peripheralCommand": kind = PeripheralCommand.Kind(rawValue: parts[1]).map { .peripheralCommand($0) }
        case "peripheralEvent": kind = PeripheralEvent.Kind(rawValue: parts[1]).map { .peripheralEvent($0) }
        default: kind = nil
        }
        guard let kind else { return nil }
        self = kind
    }
}

extension FaultKind: Codable {
    /// Reads the form of ``description``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let kind = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" names no command and no event")
        }
        self = kind
    }

    /// Writes ``description``.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

// MARK: What a fault can do there

extension FaultKind {
    /// Adapter state, permission and restoration: without them a manager knows nothing, so no fault touches them.
    var isUntouchable: Bool {
        switch self {
        case .centralEvent(let kind): [.stateChanged, .authorizationChanged, .restored].contains(kind)
        case .peripheralEvent(let kind): [.stateChanged, .authorizationChanged, .restored].contains(kind)
        default: false
        }
    }

    /// The begin or the end of a link: may come late, but not never and not twice.
    var isLinkBoundary: Bool {
        if case .centralEvent(let kind) = self { return [.connected, .connectFailed, .disconnected].contains(kind) }
        return false
    }

    /// Whether an error can take its place.
    var canFail: Bool {
        switch self {
        case .centralCommand(let kind): kind.isRepeatableRequest || kind == .connect || kind == .openChannel
        case .centralEvent(let kind): kind.isResponse
        case .peripheralCommand(let kind):
            [.addService, .startAdvertising, .publishChannel, .unpublishChannel].contains(kind)
        case .peripheralEvent(let kind):
            [.serviceAdded, .advertisingStarted, .channelPublished, .channelUnpublished].contains(kind)
        }
    }

    /// Whether it carries a value that can be corrupted.
    var hasValue: Bool {
        switch self {
        case .centralCommand(let kind): [.write, .writeCommand, .sendOnChannel].contains(kind)
        case .centralEvent(let kind): [.valueRead, .valueNotified, .channelReceived].contains(kind)
        case .peripheralCommand(let kind): [.respond, .updateValue, .sendOnChannel].contains(kind)
        case .peripheralEvent(let kind): [.writeRequested, .channelReceived].contains(kind)
        }
    }

    /// Whether it may pass twice: a packet or a request may; a grant of credits, or a link, may not.
    var canRepeat: Bool {
        switch self {
        case .centralCommand(let kind):
            kind.isRepeatableRequest || [.startScan, .stopScan, .setConnectionEventFilter].contains(kind)
        case .centralEvent(let kind):
            [.discovered, .nameChanged, .connectionEvent, .mtuChanged, .valueNotified, .channelReceived].contains(kind)
        case .peripheralCommand(let kind):
            [.stopAdvertising, .removeAllServices, .setConnectionLatency, .sendOnChannel].contains(kind)
        case .peripheralEvent(let kind): [.mtuChanged, .channelReceived, .advertisingEnded].contains(kind)
        }
    }

    /// Whether it is about a link that its central manager can end.
    var isOnLink: Bool {
        switch self {
        case .centralCommand(let kind):
            canFail && kind != .connect || kind == .writeCommand
        case .centralEvent(let kind):
            kind.isResponse
                || [
                    .connected, .mtuChanged, .writeCredits, .servicesChanged, .valueNotified, .channelOpened,
                    .operationFailed,
                ].contains(kind)
        case .peripheralCommand, .peripheralEvent: false
        }
    }

    /// Whether it names a characteristic, directly or through its request.
    var hasCharacteristic: Bool {
        switch self {
        case .centralCommand(let kind):
            [.discoverDescriptors, .read, .write, .writeCommand, .setNotifying].contains(kind)
        case .centralEvent(let kind):
            [.valueRead, .written, .notifyingChanged, .valueNotified, .descriptorsDiscovered, .operationFailed]
                .contains(kind)
        case .peripheralCommand(let kind): [.respond, .updateValue].contains(kind)
        case .peripheralEvent(let kind):
            [.subscribed, .unsubscribed, .readRequested, .writeRequested, .requestExpired].contains(kind)
        }
    }

    /// Whether it names a peer, directly or through its link.
    var hasPeer: Bool {
        switch self {
        case .centralCommand(let kind): isOnLink || kind == .connect || kind == .disconnect
        case .centralEvent(let kind):
            ![.stateChanged, .authorizationChanged, .restored, .channelReceived, .channelCredits, .channelClosed]
                .contains(kind)
        case .peripheralCommand(let kind): [.respond, .setConnectionLatency].contains(kind)
        case .peripheralEvent(let kind):
            [
                .subscribed, .unsubscribed, .notifyCredits, .mtuChanged, .readRequested, .writeRequested,
                .requestExpired, .channelOpened,
            ].contains(kind)
        }
    }
}

extension CentralCommand.Kind {
    /// Whether it is a request on a link that may be sent twice.
    fileprivate var isRepeatableRequest: Bool {
        [
            .readRSSI, .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .read, .write, .setNotifying,
        ].contains(self)
    }
}

extension CentralEvent.Kind {
    /// Whether it is the response to such a request.
    fileprivate var isResponse: Bool {
        [
            .rssiRead, .servicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered, .valueRead, .written,
            .notifyingChanged,
        ].contains(self)
    }
}
