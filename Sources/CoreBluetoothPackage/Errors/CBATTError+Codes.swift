extension CBATTError {
    /// No error.
    public static var success: Code { .success }
    /// The attribute handle is not valid on this server.
    public static var invalidHandle: Code { .invalidHandle }
    /// The attribute cannot be read.
    public static var readNotPermitted: Code { .readNotPermitted }
    /// The attribute cannot be written.
    public static var writeNotPermitted: Code { .writeNotPermitted }
    /// The attribute PDU was invalid.
    public static var invalidPdu: Code { .invalidPdu }
    /// The attribute needs an authenticated link.
    public static var insufficientAuthentication: Code { .insufficientAuthentication }
    /// The server does not support the request.
    public static var requestNotSupported: Code { .requestNotSupported }
    /// The offset is past the end of the value.
    public static var invalidOffset: Code { .invalidOffset }
    /// The attribute needs authorization.
    public static var insufficientAuthorization: Code { .insufficientAuthorization }
    /// Too many prepared writes are queued.
    public static var prepareQueueFull: Code { .prepareQueueFull }
    /// No attribute was found in the range.
    public static var attributeNotFound: Code { .attributeNotFound }
    /// The attribute cannot be read in parts.
    public static var attributeNotLong: Code { .attributeNotLong }
    /// The encryption key is too short.
    public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
    /// The value's length does not suit the attribute.
    public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
    /// The request failed in an unlikely way.
    public static var unlikelyError: Code { .unlikelyError }
    /// The attribute needs an encrypted link.
    public static var insufficientEncryption: Code { .insufficientEncryption }
    /// The attribute type is no grouping attribute.
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The server's resources do not suffice.
    public static var insufficientResources: Code { .insufficientResources }
}
