public import BluetoothBackend

/// A kind of command or event of the central or the peripheral role.
///
/// Its form in JSON is `centralCommand.read`.
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
    /// The role and the direction, a dot, and the name of the case.
    public var description: String {
        switch self {
        case .centralCommand(let kind): "centralCommand.\(kind.rawValue)"
        case .centralEvent(let kind): "centralEvent.\(kind.rawValue)"
        case .peripheralCommand(let kind): "peripheralCommand.\(kind.rawValue)"
        case .peripheralEvent(let kind): "peripheralEvent.\(kind.rawValue)"
        }
    }

    /// Reads the format of ``description``.
    ///
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard let kind = Self.described[String(text)] else { return nil }
        self = kind
    }

    private static let described: [String: FaultKind] = {
        let kinds: [FaultKind] =
            CentralCommand.Kind.allCases.map { .centralCommand($0) }
            + CentralEvent.Kind.allCases.map { .centralEvent($0) }
            + PeripheralCommand.Kind.allCases.map { .peripheralCommand($0) }
            + PeripheralEvent.Kind.allCases.map { .peripheralEvent($0) }
        return Dictionary(uniqueKeysWithValues: kinds.map { ($0.description, $0) })
    }()
}

extension FaultKind: Codable {
    /// Reads the format of ``description``.
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

// MARK: Effects by kind

/// The effects that a plan may have on messages of a kind, and the properties that it may name.
struct FaultTraits: OptionSet {
    let rawValue: UInt8

    /// Adapter state, permission and restoration: a manager needs them to know anything, so no fault applies.
    static let isUntouchable = Self(rawValue: 1 << 0)
    /// The begin or the end of a link, which may be delayed, but neither dropped nor repeated.
    static let isLinkBoundary = Self(rawValue: 1 << 1)
    /// An error can replace it.
    static let canFail = Self(rawValue: 1 << 2)
    /// It contains a value that can be corrupted.
    static let hasValue = Self(rawValue: 1 << 3)
    /// It may pass twice: a packet or a request may; a grant of credits or a link may not.
    static let canRepeat = Self(rawValue: 1 << 4)
    /// It belongs to a link that its central manager can end.
    static let isOnLink = Self(rawValue: 1 << 5)
    /// It names a characteristic, directly or through its request.
    static let hasCharacteristic = Self(rawValue: 1 << 6)
    /// It names a peer, directly or through its link.
    static let hasPeer = Self(rawValue: 1 << 7)
}

extension FaultKind {
    var traits: FaultTraits {
        switch self {
        case .centralCommand(let kind): kind.traits
        case .centralEvent(let kind): kind.traits
        case .peripheralCommand(let kind): kind.traits
        case .peripheralEvent(let kind): kind.traits
        }
    }
}

extension CentralCommand.Kind {
    fileprivate var traits: FaultTraits {
        switch self {
        case .startScan, .stopScan, .setConnectionEventFilter: .canRepeat
        case .connect: [.canFail, .hasPeer]
        case .disconnect: .hasPeer
        case .readRSSI, .discoverServices, .discoverIncludedServices, .discoverCharacteristics:
            [.canFail, .canRepeat, .isOnLink, .hasPeer]
        case .discoverDescriptors, .read, .setNotifying:
            [.canFail, .canRepeat, .isOnLink, .hasCharacteristic, .hasPeer]
        case .write: [.canFail, .hasValue, .canRepeat, .isOnLink, .hasCharacteristic, .hasPeer]
        case .writeCommand: [.hasValue, .isOnLink, .hasCharacteristic, .hasPeer]
        case .openChannel: [.canFail, .isOnLink, .hasPeer]
        case .sendOnChannel: .hasValue
        case .channelConsumed, .closeChannel: []
        }
    }
}

extension CentralEvent.Kind {
    fileprivate var traits: FaultTraits {
        switch self {
        case .stateChanged, .authorizationChanged, .restored: .isUntouchable
        case .discovered, .nameChanged, .connectionEvent: [.canRepeat, .hasPeer]
        case .peerForgotten, .ancsAuthorizationChanged: .hasPeer
        case .connected: [.isLinkBoundary, .isOnLink, .hasPeer]
        case .connectFailed, .disconnected: [.isLinkBoundary, .hasPeer]
        case .mtuChanged: [.canRepeat, .isOnLink, .hasPeer]
        case .writeCredits, .servicesChanged, .channelOpened: [.isOnLink, .hasPeer]
        case .rssiRead, .servicesDiscovered, .characteristicsDiscovered: [.canFail, .isOnLink, .hasPeer]
        case .descriptorsDiscovered, .written, .notifyingChanged:
            [.canFail, .isOnLink, .hasCharacteristic, .hasPeer]
        case .valueRead: [.canFail, .hasValue, .isOnLink, .hasCharacteristic, .hasPeer]
        case .valueNotified: [.hasValue, .canRepeat, .isOnLink, .hasCharacteristic, .hasPeer]
        case .operationFailed, .subscriptionEnded: [.isOnLink, .hasCharacteristic, .hasPeer]
        case .channelReceived: [.hasValue, .canRepeat]
        case .channelCredits, .channelClosed: []
        }
    }
}

extension PeripheralCommand.Kind {
    fileprivate var traits: FaultTraits {
        switch self {
        case .addService, .startAdvertising, .publishChannel, .unpublishChannel: .canFail
        case .removeAllServices, .stopAdvertising: .canRepeat
        case .respond: [.hasValue, .hasCharacteristic, .hasPeer]
        case .updateValue: [.hasValue, .hasCharacteristic]
        case .setConnectionLatency: [.canRepeat, .hasPeer]
        case .sendOnChannel: [.hasValue, .canRepeat]
        case .removeService, .channelConsumed, .closeChannel: []
        }
    }
}

extension PeripheralEvent.Kind {
    fileprivate var traits: FaultTraits {
        switch self {
        case .stateChanged, .authorizationChanged, .restored: .isUntouchable
        case .serviceAdded, .advertisingStarted, .channelPublished, .channelUnpublished: .canFail
        case .advertisingEnded: .canRepeat
        case .subscribed, .unsubscribed, .readRequested, .requestExpired: [.hasCharacteristic, .hasPeer]
        case .writeRequested: [.hasValue, .hasCharacteristic, .hasPeer]
        case .mtuChanged: [.canRepeat, .hasPeer]
        case .notifyCredits, .channelOpened: .hasPeer
        case .channelReceived: [.hasValue, .canRepeat]
        case .channelCredits, .channelClosed, .operationFailed: []
        }
    }
}
