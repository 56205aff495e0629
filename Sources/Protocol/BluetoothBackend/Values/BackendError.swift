/// A failure as a backend reports it, before it becomes a `CBError` or a `CBATTError`.
public struct BackendError: Error, Hashable, Sendable, Codable {
    /// The kind of the failure.
    public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
        /// The peer's ATT answer; see ``BackendError/attCode``.
        case att
        /// The cause is unknown.
        case unknown
        /// A parameter was invalid.
        case invalidParameters
        /// The attribute is gone.
        case invalidHandle
        /// The link is down or was never up.
        case notConnected
        /// No space is left: advertising sets, tables, buffers.
        case outOfSpace
        /// The operation was cancelled before it finished.
        case operationCancelled
        /// The link was lost, or no answer came in time.
        case connectionTimeout
        /// The peer closed the link.
        case peerDisconnected
        /// The UUID is reserved.
        case uuidNotAllowed
        /// Advertising is on already.
        case alreadyAdvertising
        /// A connection could not be made.
        case connectionFailed
        /// The adapter holds as many links as it can.
        case connectionLimitReached
        /// The peer is unknown.
        case unknownDevice
        /// The adapter or its service does not support this.
        case operationNotSupported
        /// The peer has lost the keys that this host holds.
        case peerRemovedPairingInformation
        /// Encryption did not start in time.
        case encryptionTimedOut
        /// The peer cannot store more keys.
        case tooManyPairedDevices
    }

    /// The kind of the failure.
    public var code: Code
    /// The ATT error code if ``code`` is `.att`: 0x01...0xFF.
    public var attCode: UInt8?
    /// The operation, for logs: "WriteValue char0012".
    public var operation: String
    /// The daemon's name of the error, for example `org.bluez.Error.InProgress`.
    public var daemonName: String?
    /// The daemon's message, for logs and `userInfo`.
    public var message: String?
    /// The error that the app gets instead of one made from the code, if an emulated device refused with its own error.
    public var original: OpaqueError?

    /// Creates a failure that is not an ATT answer.
    public init(_ code: Code, operation: String, daemonName: String? = nil, message: String? = nil) {
        self.code = code
        self.operation = operation
        self.daemonName = daemonName
        self.message = message
    }

    /// Returns the failure that the peer's ATT answer means.
    public static func att(
        _ attCode: UInt8, operation: String, daemonName: String? = nil, message: String? = nil
    ) -> BackendError {
        var error = BackendError(.att, operation: operation, daemonName: daemonName, message: message)
        error.attCode = attCode
        return error
    }
}

extension BackendError: CustomStringConvertible {
    /// The operation, the code, and the daemon's name and message, for logs.
    public var description: String {
        var text = "\(operation): "
        if let attCode { text += "ATT error 0x" + String(attCode, radix: 16) } else { text += code.rawValue }
        if let daemonName { text += " (\(daemonName)\(message.map { ": \($0)" } ?? ""))" }
        return text
    }
}
