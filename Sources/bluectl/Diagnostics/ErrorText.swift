import BluetoothProfiles
import CoreBluetoothPackage

/// Errors of the CoreBluetooth classes in one line.
enum ErrorText {
    /// Apple's words, the ATT code where there is one, and what the daemon said.
    static func of(_ error: any Error) -> String {
        var text = subject(error)
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

    /// `operation cancelled` out of `operationCancelled`.
    private static func words(_ name: String) -> String {
        name.map { $0.isUppercase ? " " + $0.lowercased() : String($0) }.joined()
    }
}
