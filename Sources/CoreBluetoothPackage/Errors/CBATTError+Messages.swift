extension CBATTError.Code {
    /// The text that Apple's system puts into such an error; nil where none was seen.
    var message: String? {
        switch self {
        case .invalidHandle: "The handle is invalid."
        case .readNotPermitted: "Reading is not permitted."
        case .writeNotPermitted: "Writing is not permitted."
        case .requestNotSupported: "The request is not supported."
        case .attributeNotFound: "The attribute could not be found."
        case .invalidAttributeValueLength: "The value's length is invalid."
        case ._other: "Unknown ATT error."
        default: nil
        }
    }
}
