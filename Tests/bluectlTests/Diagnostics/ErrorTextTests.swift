import CoreBluetoothClasses
import Foundation
import Testing

@testable import bluectl

/// The texts of errors, which name the user's remedy.
struct ErrorTextTests {
    @Test(arguments: [CBATTError.insufficientAuthentication, CBATTError.insufficientEncryption])
    func missingSecurityIsAnsweredWithTheCommandThatPairs(code: CBATTError.Code) {
        let text = ErrorText.of(CBATTError(system: code))
        #expect(text.hasPrefix("ATT error 0x" + (code == .insufficientAuthentication ? "05" : "0F") + ": "))
        #expect(text.hasSuffix("is insufficient. Pair with the device first: bluectl pair DEVICE."))
    }

    @Test func aSubscriptionThatIsNotSupportedNamesTheProperty() {
        let error = CBATTError(system: .requestNotSupported)
        #expect(
            ErrorText.of(error, isSubscribing: true)
                == "ATT error 0x06: The request is not supported. The characteristic does not notify: "
                + "\"bluectl explore DEVICE\" lists the properties of each.")
        #expect(ErrorText.of(error) == "ATT error 0x06: The request is not supported.")
    }

    @Test func whatTheDaemonSaidFollowsTheAdvice() {
        let error = CBATTError(
            .insufficientAuthentication,
            userInfo: [
                NSLocalizedDescriptionKey: "Authentication is insufficient.",
                NSDebugDescriptionErrorKey: "org.bluez.Error.Failed: 0x05",
            ])
        #expect(
            ErrorText.of(error)
                == "ATT error 0x05: Authentication is insufficient. Pair with the device first: bluectl pair DEVICE. "
                + "(org.bluez.Error.Failed: 0x05)")
    }

    @Test(arguments: [CBATTError.readNotPermitted, .unlikelyError, .insufficientAuthorization])
    func otherAnswersHaveNoAdvice(code: CBATTError.Code) {
        #expect(ErrorText.of(CBATTError(system: code)).hasSuffix(": \(CBATTError(system: code).localizedDescription)"))
    }
}
