public import Foundation

/// An error of the local system, of the link or of a manager.
///
/// `catch CBError.notConnected`, `if case CBError.notConnected = error` and the casts to and from `NSError` work as on
/// Apple's platforms, whether the error is this struct or an `NSError` of its domain.
///
/// Source: Apple, CBError.
public struct CBError: _BridgedStoredNSError, _ObjectiveCBridgeable {
    /// The error's domain, ``CBErrorDomain``.
    ///
    /// Foundation's bridging reads it under this name.
    public static var _nsErrorDomain: String { CBErrorDomain }

    /// The error's domain, ``CBErrorDomain``.
    public static var errorDomain: String { CBErrorDomain }

    /// The error as Foundation's class.
    public let _nsError: NSError

    /// Wraps an error of Foundation's class, whose domain should be ``CBErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }

    /// Creates an error from a code.
    ///
    /// - Parameters:
    ///   - code: The code of the error.
    ///   - userInfo: More about it, under Foundation's keys such as `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = PrintableError(
            domain: CBErrorDomain, code: code.rawValue, userInfo: userInfo, meaning: code.message)
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

extension CBError {
    /// The kind of the failure.
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
        public init?(rawValue: Int) {
            self = Self.named.indices.contains(rawValue) ? Self.named[rawValue] : ._other(rawValue)
        }

        /// The code's number.
        public var rawValue: Int { entry.number }

        /// The text of an error of the system.
        var message: String { entry.message }

        /// The number and the text: Apple's if it is known, otherwise one in the same style.
        private var entry: (number: Int, message: String) {
            switch self {
            case .unknown: (0, "Unknown error.")
            case .invalidParameters: (1, "One or more parameters were invalid.")
            case .invalidHandle: (2, "The specified attribute handle is invalid.")
            case .notConnected: (3, "The specified device is not connected.")
            case .outOfSpace: (4, "The device has run out of space.")
            case .operationCancelled: (5, "The operation was cancelled.")
            case .connectionTimeout: (6, "The connection has timed out unexpectedly.")
            case .peripheralDisconnected: (7, "The specified device has disconnected from us.")
            case .uuidNotAllowed: (8, "The specified UUID is not allowed for this operation.")
            case .alreadyAdvertising: (9, "Advertising has already started.")
            case .connectionFailed: (10, "The connection has failed unexpectedly.")
            case .connectionLimitReached: (11, "The maximum number of connections has been reached.")
            case .unkownDevice: (12, "The specified device is unknown.")
            case .operationNotSupported: (13, "The operation is not supported.")
            case .peerRemovedPairingInformation: (14, "Peer removed pairing information")
            case .encryptionTimedOut:
                (15, "Failed to encrypt the connection, the connection has timed out unexpectedly.")
            case .tooManyLEPairedDevices: (16, "The maximum number of paired devices has been reached.")
            case .leGattExceededBackgroundNotificationLimit:
                (17, "The limit of notifications in the background has been exceeded.")
            case .leGattNearBackgroundNotificationLimit:
                (18, "The limit of notifications in the background has almost been reached.")
            case ._other(let number): (number, "Unknown error.")
            }
        }

        /// The codes that have a name, each at the index that is its number.
        static let named: [Code] = [
            .unknown, .invalidParameters, .invalidHandle, .notConnected, .outOfSpace, .operationCancelled,
            .connectionTimeout, .peripheralDisconnected, .uuidNotAllowed, .alreadyAdvertising, .connectionFailed,
            .connectionLimitReached, .unkownDevice, .operationNotSupported, .peerRemovedPairingInformation,
            .encryptionTimedOut, .tooManyLEPairedDevices, .leGattExceededBackgroundNotificationLimit,
            .leGattNearBackgroundNotificationLimit,
        ]
    }
}

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
