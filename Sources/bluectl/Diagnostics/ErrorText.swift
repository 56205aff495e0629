import BluetoothProfiles
import CoreBluetoothPackage

/// Errors of the CoreBluetooth classes in one line.
enum ErrorText {
    /// Apple's words, the ATT code where there is one, what the user can do, and what the daemon said.
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

    /// What the user can do about an answer of the device; nil where there is nothing that helps for sure.
    private static func advice(_ error: any Error, _ isSubscribing: Bool) -> String? {
        switch (error as? CBATTError)?.code {
        case .insufficientAuthentication, .insufficientEncryption:
            "Pair with the device first: bluectl pair DEVICE."
        case .requestNotSupported where isSubscribing:
            "The characteristic does not notify: \"bluectl explore DEVICE\" lists the properties of each."
        default: nil
        }
    }

    /// `operation cancelled` out of `operationCancelled`.
    private static func words(_ name: String) -> String {
        name.map { $0.isUppercase ? " " + $0.lowercased() : String($0) }.joined()
    }
}
