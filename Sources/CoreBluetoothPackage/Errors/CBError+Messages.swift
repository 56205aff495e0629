extension CBError.Code {
    /// The text that Apple's system puts into such an error; nil where none was seen.
    var message: String? {
        switch self {
        case .unknown: "Unknown error."
        case .invalidParameters: "One or more parameters were invalid."
        case .connectionTimeout: "The connection has timed out unexpectedly."
        case .peripheralDisconnected: "The specified device has disconnected from us."
        case .uuidNotAllowed: "The specified UUID is not allowed for this operation."
        case .alreadyAdvertising: "Advertising has already started."
        default: nil
        }
    }
}
