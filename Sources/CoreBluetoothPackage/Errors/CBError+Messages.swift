extension CBError.Code {
    /// What an error of the system's own says: Apple's text where it is known, else one in the same style.
    var message: String {
        switch self {
        case .unknown: "Unknown error."
        case .invalidParameters: "One or more parameters were invalid."
        case .invalidHandle: "The specified attribute handle is invalid."
        case .notConnected: "The specified device is not connected."
        case .outOfSpace: "The device has run out of space."
        case .operationCancelled: "The operation was cancelled."
        case .connectionTimeout: "The connection has timed out unexpectedly."
        case .peripheralDisconnected: "The specified device has disconnected from us."
        case .uuidNotAllowed: "The specified UUID is not allowed for this operation."
        case .alreadyAdvertising: "Advertising has already started."
        case .connectionFailed: "The connection has failed unexpectedly."
        case .connectionLimitReached: "The maximum number of connections has been reached."
        case .unkownDevice: "The specified device is unknown."
        case .operationNotSupported: "The operation is not supported."
        case .peerRemovedPairingInformation: "Peer removed pairing information"
        case .encryptionTimedOut: "Failed to encrypt the connection, the connection has timed out unexpectedly."
        case .tooManyLEPairedDevices: "The maximum number of paired devices has been reached."
        case .leGattExceededBackgroundNotificationLimit:
            "The limit of notifications in the background has been exceeded."
        case .leGattNearBackgroundNotificationLimit:
            "The limit of notifications in the background has almost been reached."
        case ._other: "Unknown error."
        }
    }
}
