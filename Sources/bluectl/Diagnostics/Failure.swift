import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothPackage

/// Why a command ends without having done its work: one line, and how the process ends.
struct Failure: Error, Equatable, CustomStringConvertible {
    /// How the process ends.
    var status: ExitStatus
    /// One line for people.
    var description: String

    /// Ends with `status` and a line.
    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }

    /// A step of a command took too long.
    static func timedOut(_ limit: Duration, _ phrase: String) -> Failure {
        let (seconds, attoseconds) = limit.components
        let text = attoseconds == 0 ? "\(seconds)" : Decimals.fixed(Double(seconds) + Double(attoseconds) / 1e18, 1)
        return Failure(.timedOut, "timed out after \(text) s \(phrase)")
    }
}

extension Failure {
    /// An operation of the async client failed.
    @MainActor
    init(_ error: BluetoothError) {
        func cause(_ error: (any Error)?) -> String { error.map { ": " + ErrorText.of($0) } ?? "" }
        switch error.reason {
        case .unavailable(let state): self = AdapterFailure.failure(state)
        case .connectionFailed(let error): self.init(.failed, "cannot connect" + cause(error))
        case .disconnected(let error): self.init(.failed, "the device disconnected" + cause(error))
        case .cancelled: self.init(.failed, "the connection was ended")
        case .refused(let reason):
            self.init(.failed, ErrorText.of(reason, isSubscribing: error.operation == .notifications))
        case .valueTooLong(let length, let maximum) where error.operation == .writeWithoutResponse:
            self.init(.failed, "\(length) bytes are too long: without response this link takes \(maximum)")
        default: self.init(.failed, PrintableText.of(error.reason.description))
        }
    }
}
