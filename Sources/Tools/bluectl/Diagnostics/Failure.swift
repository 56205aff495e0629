import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothClasses

/// The failure of a command: one line for people, and the exit status.
struct Failure: Error, Equatable, CustomStringConvertible {
    var status: ExitStatus
    var description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        // The text may quote a name, a file or an answer.
        self.description = PrintableText.of(description)
    }

    static func timedOut(_ limit: Duration, _ phrase: String) -> Failure {
        let (seconds, attoseconds) = limit.components
        let text = attoseconds == 0 ? "\(seconds)" : Decimals.fixed(Double(seconds) + Double(attoseconds) / 1e18, 1)
        return Failure(.timedOut, "timed out after \(text) s \(phrase)")
    }
}

extension Failure {
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
            self.init(
                .failed,
                "\(length) bytes are too many: a write without response carries at most \(maximum) on this link")
        default: self.init(.failed, error.reason.description)
        }
    }
}

/// The exit status of the process.
///
/// Scripts rely on the numbers.
struct ExitStatus: RawRepresentable, Hashable, Sendable {
    /// The number, 0...255; for `world run`, that of the command.
    let rawValue: Int32

    static let done = ExitStatus(rawValue: 0)
    static let failed = ExitStatus(rawValue: 1)
    static let usage = ExitStatus(rawValue: 2)
    static let timedOut = ExitStatus(rawValue: 3)
    /// A program exists but cannot be run; the number is that of shells.
    static let notExecutable = ExitStatus(rawValue: 126)
    /// A program does not exist; the number is that of shells.
    static let noProgram = ExitStatus(rawValue: 127)
}

enum AdapterFailure {
    /// Returns the failure for a state, with the text of the backend's last warning, if any.
    ///
    /// The log is closed afterwards, so that the user reads the remedy once.
    static func failure(_ state: CBManagerState) -> Failure {
        failure(Diagnostics.close() ?? remedy(state))
    }

    /// Returns the failure for an adapter that was on, and that the system no longer has.
    static func gone() -> Failure {
        failure(Diagnostics.close() ?? "the Bluetooth adapter is gone: it was unplugged, or bluetoothd has ended")
    }

    static func failure(_ line: String) -> Failure {
        Failure(.failed, line.contains("doctor") ? line : line + "; run \"bluectl doctor\" for details")
    }

    static func remedy(_ state: CBManagerState) -> String {
        switch state {
        case .unsupported:
            "no Bluetooth adapter: plug one in or start bluetoothd"
        case .unauthorized:
            "access to Bluetooth is denied: \"bluectl doctor\" names the missing permission"
        case .poweredOff:
            "the Bluetooth adapter is off: \"bluetoothctl power on\", or \"rfkill unblock bluetooth\" if it is blocked"
        case .resetting:
            "the Bluetooth service stopped"
        default:
            "the adapter is not ready"
        }
    }
}

/// The text of errors of the CoreBluetooth classes, in one line.
enum ErrorText {
    /// Returns Apple's text, the ATT code if it exists, the remedy, and the daemon's text.
    ///
    /// - Parameter isSubscribing: Whether a subscription failed.
    static func of(_ error: any Error, isSubscribing: Bool = false) -> String {
        var text = [subject(error), advice(error, isSubscribing)].compactMap { $0 }.joined(separator: " ")
        if let detail = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String { text += " (\(detail))" }
        return PrintableText.of(text)
    }

    private static func subject(_ error: any Error) -> String {
        switch error {
        case let error as CBATTError:
            let code = "ATT error 0x" + Decimals.hex(error.errorCode, width: 2)
            return (error.errorUserInfo[NSLocalizedDescriptionKey] as? String).map { "\(code): \($0)" } ?? code
        case let error as CBError:
            let text = error.errorUserInfo[NSLocalizedDescriptionKey] as? String
            return text ?? "\(words("\(error.code)")) (CBError \(error.errorCode))"
        default:
            return "\(error)"
        }
    }

    private static func advice(_ error: any Error, _ isSubscribing: Bool) -> String? {
        switch (error as? CBATTError)?.code {
        case .insufficientAuthentication, .insufficientEncryption:
            "Pair with the device first: bluectl pair DEVICE."
        case .requestNotSupported where isSubscribing:
            "The characteristic does not notify: \"bluectl explore DEVICE\" lists the properties of each."
        default: nil
        }
    }

    /// Returns the words of a name: `operation cancelled` for `operationCancelled`.
    private static func words(_ name: String) -> String {
        name.map { $0.isUppercase ? " " + $0.lowercased() : String($0) }.joined()
    }
}
