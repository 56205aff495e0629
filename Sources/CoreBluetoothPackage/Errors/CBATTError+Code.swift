public import Foundation

extension CBATTError {
    /// What the attribute server answered.
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
        /// The attribute type is no grouping attribute. Code 0x10.
        case unsupportedGroupType
        /// The server's resources do not suffice. Code 0x11.
        case insufficientResources
        /// A number without a name, such as those of applications, 0x80 to 0x9F. Compare `rawValue` instead.
        case _other(Int)

        /// Finds the code of a number.
        ///
        /// Never nil: numbers without a name are kept.
        public init?(rawValue: Int) { self = Self.named[rawValue] ?? ._other(rawValue) }

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

        private static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.rawValue, $0) })

        /// The codes that have a name.
        static let all: [Code] = [
            .success, .invalidHandle, .readNotPermitted, .writeNotPermitted, .invalidPdu, .insufficientAuthentication,
            .requestNotSupported, .invalidOffset, .insufficientAuthorization, .prepareQueueFull, .attributeNotFound,
            .attributeNotLong, .insufficientEncryptionKeySize, .invalidAttributeValueLength, .unlikelyError,
            .insufficientEncryption, .unsupportedGroupType, .insufficientResources,
        ]
    }
}
