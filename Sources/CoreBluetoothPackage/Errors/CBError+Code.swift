public import Foundation

extension CBError {
    /// What went wrong.
    ///
    /// Open: any number makes a code.
    ///
    /// A `switch` over it needs `@unknown default` or `default`. Source: Apple, CBError.Code.
    public enum Code: RawRepresentable, Hashable, Sendable, _ErrorCodeProtocol {
        /// The error that carries this code.
        public typealias _ErrorType = CBError

        /// An unknown failure. Code 0.
        case unknown
        /// A parameter was invalid. Code 1.
        case invalidParameters
        /// The attribute handle is invalid. Code 2.
        case invalidHandle
        /// The device is not connected. Code 3.
        case notConnected
        /// The device has no space left. Code 4.
        case outOfSpace
        /// The operation was cancelled. Code 5.
        case operationCancelled
        /// The link was lost: nothing was heard for the supervision timeout. Code 6.
        case connectionTimeout
        /// The peer closed the link. Code 7.
        case peripheralDisconnected
        /// The UUID is not allowed here. Code 8.
        case uuidNotAllowed
        /// The manager advertises already. Code 9.
        case alreadyAdvertising
        /// The link could not be made. Code 10.
        case connectionFailed
        /// The adapter has as many links as it can. Code 11.
        case connectionLimitReached
        /// The device is not known. Apple's spelling; see ``CBError/unknownDevice``. Code 12.
        case unkownDevice
        /// The operation is not supported. Code 13.
        case operationNotSupported
        /// The peer lost the keys of the bond. Code 14.
        case peerRemovedPairingInformation
        /// The link could not be encrypted in time. Code 15.
        case encryptionTimedOut
        /// There is no room for another bond. Code 16.
        case tooManyLEPairedDevices
        /// watchOS: too many notifications in the background. Code 17.
        case leGattExceededBackgroundNotificationLimit
        /// watchOS: nearly too many notifications in the background. Code 18.
        case leGattNearBackgroundNotificationLimit
        /// A number without a name. Not for use in code: a later version may name it.
        case _other(Int)

        /// Finds the code of a number.
        ///
        /// Never nil: numbers without a name are kept.
        public init?(rawValue: Int) { self = Self.named[rawValue] ?? ._other(rawValue) }

        /// The code's number.
        public var rawValue: Int {
            switch self {
            case .unknown: 0
            case .invalidParameters: 1
            case .invalidHandle: 2
            case .notConnected: 3
            case .outOfSpace: 4
            case .operationCancelled: 5
            case .connectionTimeout: 6
            case .peripheralDisconnected: 7
            case .uuidNotAllowed: 8
            case .alreadyAdvertising: 9
            case .connectionFailed: 10
            case .connectionLimitReached: 11
            case .unkownDevice: 12
            case .operationNotSupported: 13
            case .peerRemovedPairingInformation: 14
            case .encryptionTimedOut: 15
            case .tooManyLEPairedDevices: 16
            case .leGattExceededBackgroundNotificationLimit: 17
            case .leGattNearBackgroundNotificationLimit: 18
            case ._other(let number): number
            }
        }

        private static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.rawValue, $0) })

        /// The codes that have a name.
        static let all: [Code] = [
            .unknown, .invalidParameters, .invalidHandle, .notConnected, .outOfSpace, .operationCancelled,
            .connectionTimeout, .peripheralDisconnected, .uuidNotAllowed, .alreadyAdvertising, .connectionFailed,
            .connectionLimitReached, .unkownDevice, .operationNotSupported, .peerRemovedPairingInformation,
            .encryptionTimedOut, .tooManyLEPairedDevices, .leGattExceededBackgroundNotificationLimit,
            .leGattNearBackgroundNotificationLimit,
        ]
    }
}
