extension CBError {
    /// An unknown failure.
    public static var unknown: Code { .unknown }
    /// A parameter was invalid.
    public static var invalidParameters: Code { .invalidParameters }
    /// The attribute handle is invalid.
    public static var invalidHandle: Code { .invalidHandle }
    /// The device is not connected.
    public static var notConnected: Code { .notConnected }
    /// The device has no space left.
    public static var outOfSpace: Code { .outOfSpace }
    /// The operation was cancelled.
    public static var operationCancelled: Code { .operationCancelled }
    /// The link was lost: nothing was heard for the supervision timeout.
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The peer closed the link.
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The UUID is not allowed here.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// The manager advertises already.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The link could not be made.
    public static var connectionFailed: Code { .connectionFailed }
    /// The adapter has as many links as it can.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The device is not known.
    ///
    /// Apple's spelling; see ``CBError/unknownDevice``.
    public static var unkownDevice: Code { .unkownDevice }
    /// The operation is not supported.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The peer lost the keys of the bond.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// The link could not be encrypted in time.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// There is no room for another bond.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// watchOS: too many notifications in the background.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// watchOS: nearly too many notifications in the background.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// The device is not known: the code ``Code/unkownDevice`` in the usual spelling.
    public static var unknownDevice: Code { .unkownDevice }
}

extension CBError.Code {
    /// The device is not known: ``unkownDevice`` in the usual spelling.
    public static var unknownDevice: Self { .unkownDevice }
}
