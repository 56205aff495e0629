import BluetoothValues
public import Foundation

/// An error that the other side of a link answered, or that a local server answers.
///
/// Casts and patterns work as those of ``CBError`` do. Codes of applications and profiles, 0x80 to 0xFF, pass
/// unchanged.
///
/// Sources: Apple, CBATTError; Core Specification, Vol 3, Part F, 3.4.1.1.
public struct CBATTError: _BridgedStoredNSError, _ObjectiveCBridgeable {
    /// The error's domain, ``CBATTErrorDomain``.
    ///
    /// Foundation's bridging reads it under this name.
    public static var _nsErrorDomain: String { CBATTErrorDomain }

    /// The error's domain, ``CBATTErrorDomain``.
    public static var errorDomain: String { CBATTErrorDomain }

    /// The error as Foundation's class.
    public let _nsError: NSError

    /// Wraps an error of Foundation's class, whose domain should be ``CBATTErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }

    /// Creates an error from a code.
    ///
    /// - Parameters:
    ///   - code: The code of the error.
    ///   - userInfo: More about it, under Foundation's keys such as `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = PrintableError(
            domain: CBATTErrorDomain, code: code.rawValue, userInfo: userInfo, meaning: code.message)
    }

    /// Creates an error of the system, with the text of its code.
    package init(system code: Code) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: code.message])
    }

    /// The hash of domain and code.
    ///
    /// Foundation's default asks `NSError.hash`, which never returns on Linux.
    public var hashValue: Int {
        var hasher = Hasher()
        hash(into: &hasher)
        return hasher.finalize()
    }

    /// Hashes domain and code.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.domain)
        hasher.combine(_nsError.code)
    }
}

extension CBATTError {
    /// The error code of the attribute server.
    ///
    /// Open: any number makes a code.
    ///
    /// A `switch` over it needs `@unknown default` or `default`. Source: Apple, CBATTError.Code.
    public enum Code: RawRepresentable, Hashable, Sendable, _ErrorCodeProtocol {
        /// The error that carries this code.
        public typealias _ErrorType = CBATTError

        /// No error. Code 0x00.
        case success
        /// The attribute handle is not valid on this server. Code 0x01.
        case invalidHandle
        /// The attribute cannot be read. Code 0x02.
        case readNotPermitted
        /// The attribute cannot be written. Code 0x03.
        case writeNotPermitted
        /// The attribute PDU was invalid. Code 0x04.
        case invalidPdu
        /// The attribute needs an authenticated link. Code 0x05.
        case insufficientAuthentication
        /// The server does not support the request. Code 0x06.
        case requestNotSupported
        /// The offset is past the end of the value. Code 0x07.
        case invalidOffset
        /// The attribute needs authorization. Code 0x08.
        case insufficientAuthorization
        /// Too many prepared writes are queued. Code 0x09.
        case prepareQueueFull
        /// No attribute was found in the range. Code 0x0A.
        case attributeNotFound
        /// The attribute cannot be read in parts. Code 0x0B.
        case attributeNotLong
        /// The encryption key is too short. Code 0x0C.
        case insufficientEncryptionKeySize
        /// The value's length does not suit the attribute. Code 0x0D.
        case invalidAttributeValueLength
        /// The request failed in an unlikely way. Code 0x0E.
        case unlikelyError
        /// The attribute needs an encrypted link. Code 0x0F.
        case insufficientEncryption
        /// The attribute type is not a grouping attribute. Code 0x10.
        case unsupportedGroupType
        /// The server's resources do not suffice. Code 0x11.
        case insufficientResources
        /// A number without a name, such as those of applications, 0x80 to 0x9F. Compare `rawValue` instead.
        case _other(Int)

        /// Finds the code of a number.
        ///
        /// Never nil: numbers without a name are kept.
        public init?(rawValue: Int) {
            self = Self.named.indices.contains(rawValue) ? Self.named[rawValue] : ._other(rawValue)
        }

        /// The code's number.
        public var rawValue: Int {
            switch self {
            case .success: 0x00
            case .invalidHandle: 0x01
            case .readNotPermitted: 0x02
            case .writeNotPermitted: 0x03
            case .invalidPdu: 0x04
            case .insufficientAuthentication: 0x05
            case .requestNotSupported: 0x06
            case .invalidOffset: 0x07
            case .insufficientAuthorization: 0x08
            case .prepareQueueFull: 0x09
            case .attributeNotFound: 0x0A
            case .attributeNotLong: 0x0B
            case .insufficientEncryptionKeySize: 0x0C
            case .invalidAttributeValueLength: 0x0D
            case .unlikelyError: 0x0E
            case .insufficientEncryption: 0x0F
            case .unsupportedGroupType: 0x10
            case .insufficientResources: 0x11
            case ._other(let number): number
            }
        }

        /// The text of an error of the system: Apple's if it is known, otherwise one in the same style.
        var message: String {
            switch self {
            case .success: "No error."
            case ._other: "Unknown ATT error."
            default: UInt8(exactly: rawValue).flatMap { ATTCode(rawValue: $0).meaning } ?? "Unknown ATT error."
            }
        }

        /// The codes that have a name, each at the index that is its number.
        static let named: [Code] = [
            .success, .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPdu, .insufficientAuthentication,
            .requestNotSupported, .invalidOffset, .insufficientAuthorization, .prepareQueueFull, .attributeNotFound,
            .attributeNotLong, .insufficientEncryptionKeySize, .invalidAttributeValueLength, .unlikelyError,
            .insufficientEncryption, .unsupportedGroupType, .insufficientResources,
        ]
    }
}

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
    /// The attribute type is not a grouping attribute.
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The server's resources do not suffice.
    public static var insufficientResources: Code { .insufficientResources }
}
