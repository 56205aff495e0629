// The protocol's values in words, the same in every tool: "off" for `poweredOff`.

extension AdapterState {
    /// The state in words.
    package var words: String {
        switch self {
        case .unknown: "not known yet"
        case .resetting: "restarting"
        case .unsupported: "no adapter"
        case .unauthorized: "not permitted"
        case .poweredOff: "off"
        case .poweredOn: "on"
        }
    }
}

extension AuthorizationStatus {
    /// The permission in words.
    package var words: String {
        switch self {
        case .notDetermined: "not asked yet"
        case .restricted: "forbidden by policy"
        case .denied: "denied"
        case .allowed: "allowed"
        }
    }
}

extension BackendFeature {
    /// The feature in words.
    package var words: String {
        switch self {
        case .extendedScanAndConnect: "extended advertising"
        case .peripheralRole: "the peripheral role"
        case .channels: "L2CAP channels"
        case .connectedRSSI: "the signal strength of links"
        case .disconnectReason: "reasons of disconnections"
        case .pairing: "pairing"
        }
    }
}

extension BackendError.Code {
    /// The kind of the failure in words.
    package var words: String {
        switch self {
        case .att: "the device refused"
        case .unknown: "the reason is unknown"
        case .invalidParameters: "a parameter is invalid"
        case .invalidHandle: "the attribute is gone"
        case .notConnected: "there is no link"
        case .outOfSpace: "no room is left"
        case .operationCancelled: "cancelled"
        case .connectionTimeout: "no answer came in time"
        case .peerDisconnected: "the other side closed the link"
        case .uuidNotAllowed: "the UUID is reserved"
        case .alreadyAdvertising: "advertising is on already"
        case .connectionFailed: "no connection was made"
        case .connectionLimitReached: "the adapter has no room for another link"
        case .unknownDevice: "the device is unknown"
        case .operationNotSupported: "not supported"
        case .peerRemovedPairingInformation: "the other side has lost its keys"
        case .encryptionTimedOut: "encryption did not start in time"
        case .tooManyPairedDevices: "no room is left for keys"
        }
    }
}

extension PairingCapability {
    /// The input and output in words.
    package var words: String {
        switch self {
        case .displayOnly: "a display"
        case .displayYesNo: "a display and two buttons"
        case .keyboardOnly: "a keyboard"
        case .noInputNoOutput: "no display and no keyboard"
        case .keyboardDisplay: "a keyboard and a display"
        }
    }
}

extension CharacteristicProperties {
    /// The properties in words, in the order of their bits.
    package var words: [String] { Self.namesAndWords.filter { contains($0.property) }.map(\.words) }

    /// The names of the properties in JSON, in the order of their bits.
    package var names: [String] { Self.namesAndWords.filter { contains($0.property) }.map(\.name) }

    /// Each property with its name in JSON and its words.
    package static let namesAndWords: [(property: Self, name: String, words: String)] = [
        (.broadcast, "broadcast", "broadcast"),
        (.read, "read", "read"),
        (.writeWithoutResponse, "writeWithoutResponse", "write without response"),
        (.write, "write", "write"),
        (.notify, "notify", "notify"),
        (.indicate, "indicate", "indicate"),
        (.authenticatedSignedWrites, "authenticatedSignedWrites", "signed write"),
        (.extendedProperties, "extendedProperties", "extended properties"),
        (.notifyEncryptionRequired, "notifyEncryptionRequired", "notify if encrypted"),
        (.indicateEncryptionRequired, "indicateEncryptionRequired", "indicate if encrypted"),
    ]
}
