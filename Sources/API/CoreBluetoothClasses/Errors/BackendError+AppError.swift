// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothBackend
import Foundation

/// The conversion of a backend's errors to those that apps see (S163).
extension BackendError {
    /// The error that an emulated device gave; otherwise a `CBATTError` for the peer's answers and a `CBError` for the
    /// rest.
    var appError: any Error {
        if let original { return original.error }
        if code == .att { return attError }
        return CBError(code.appCode, userInfo: userInfo(code.appCode.message))
    }

    private var attError: any Error {
        let raw = Int(attCode ?? 0x0E)
        guard let code = CBATTError.Code(rawValue: raw) else {
            return CBATTError(.unlikelyError, userInfo: userInfo(CBATTError.Code.unlikelyError.message))
        }
        return CBATTError(code, userInfo: userInfo(code.message))
    }

    /// Returns the code's text, and the daemon's message under a separate key.
    private func userInfo(_ text: String) -> [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: text]
        if let daemonName {
            info[NSDebugDescriptionErrorKey] = message.map { "\(daemonName): \($0)" } ?? daemonName
        }
        return info
    }
}

extension BackendError.Code {
    /// The `CBError.Code`; `.att` has none and counts as unknown here.
    var appCode: CBError.Code {
        switch self {
        case .att, .unknown: .unknown
        case .invalidParameters: .invalidParameters
        case .invalidHandle: .invalidHandle
        case .notConnected: .notConnected
        case .outOfSpace: .outOfSpace
        case .operationCancelled: .operationCancelled
        case .connectionTimeout: .connectionTimeout
        case .peerDisconnected: .peripheralDisconnected
        case .uuidNotAllowed: .uuidNotAllowed
        case .alreadyAdvertising: .alreadyAdvertising
        case .connectionFailed: .connectionFailed
        case .connectionLimitReached: .connectionLimitReached
        case .unknownDevice: .unkownDevice
        case .operationNotSupported: .operationNotSupported
        case .peerRemovedPairingInformation: .peerRemovedPairingInformation
        case .encryptionTimedOut: .encryptionTimedOut
        case .tooManyPairedDevices: .tooManyLEPairedDevices
        }
    }
}

/// The domain of ``CBError``.
///
/// Source: Apple, CBErrorDomain.
public let CBErrorDomain = "CBErrorDomain"

/// The domain of ``CBATTError``.
///
/// Source: Apple, CBATTErrorDomain.
public let CBATTErrorDomain = "CBATTErrorDomain"

/// Foundation's error, printed as on Apple's platforms: with its text, where Foundation on Linux prints "(null)".
///
/// An error without a text prints the meaning of its code.
// Invariant: as `NSError`, never changed after `init`.
final class PrintableError: NSError, @unchecked Sendable {
    private let meaning: String

    init(domain: String, code: Int, userInfo: [String: Any], meaning: String) {
        self.meaning = meaning
        super.init(domain: domain, code: code, userInfo: userInfo)
    }

    required init?(coder: NSCoder) {
        meaning = "(null)"
        super.init(coder: coder)
    }

    override var description: String {
        let text = userInfo[NSLocalizedDescriptionKey] as? String ?? meaning
        let entries = userInfo.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ", ")
        return "Error Domain=\(domain) Code=\(code) \"\(text)\"" + (entries.isEmpty ? "" : " UserInfo={\(entries)}")
    }
}
