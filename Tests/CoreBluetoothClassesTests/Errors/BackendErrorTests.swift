import BluetoothBackend
import Testing

@testable import CoreBluetoothClasses

/// The conversion of a backend's errors to those of apps.
@Suite struct BackendErrorTests {
    @Test(arguments: [
        (BackendError.Code.unknown, CBError.unknown), (.invalidParameters, CBError.invalidParameters),
        (.invalidHandle, CBError.invalidHandle), (.notConnected, CBError.notConnected),
        (.outOfSpace, CBError.outOfSpace), (.operationCancelled, CBError.operationCancelled),
        (.connectionTimeout, CBError.connectionTimeout), (.peerDisconnected, CBError.peripheralDisconnected),
        (.uuidNotAllowed, CBError.uuidNotAllowed), (.alreadyAdvertising, CBError.alreadyAdvertising),
        (.connectionFailed, CBError.connectionFailed), (.connectionLimitReached, CBError.connectionLimitReached),
        (.unknownDevice, CBError.unknownDevice), (.operationNotSupported, CBError.operationNotSupported),
        (.peerRemovedPairingInformation, CBError.peerRemovedPairingInformation),
        (.encryptionTimedOut, CBError.encryptionTimedOut), (.tooManyPairedDevices, CBError.tooManyLEPairedDevices),
    ])
    func S163_localFailuresAreErrorsOfTheLink(code: BackendError.Code, expected: CBError.Code) {
        let error = BackendError(code, operation: "test").appError
        #expect((error as? CBError)?.code == expected)
        #expect((error as NSError).domain == CBErrorDomain)
    }

    @Test(arguments: [0x01, 0x02, 0x0D, 0x11, 0x80, 0xFF] as [UInt8])
    func S163_answersOfThePeerKeepTheirCode(code: UInt8) {
        let error = BackendError.att(code, operation: "test").appError
        #expect((error as? CBATTError)?.code.rawValue == Int(code))
        #expect((error as NSError).domain == CBATTErrorDomain)
    }

    @Test(arguments: [
        (BackendError.Code.unknown, "Unknown error."),
        (.invalidParameters, "One or more parameters were invalid."),
        (.connectionTimeout, "The connection has timed out unexpectedly."),
        (.peerDisconnected, "The specified device has disconnected from us."),
        (.uuidNotAllowed, "The specified UUID is not allowed for this operation."),
        (.alreadyAdvertising, "Advertising has already started."),
        (.connectionFailed, "The connection has failed unexpectedly."),
        (.peerRemovedPairingInformation, "Peer removed pairing information"),
        (.encryptionTimedOut, "Failed to encrypt the connection, the connection has timed out unexpectedly."),
    ])
    func errorsSayWhatApplesSay(code: BackendError.Code, text: String) {
        let error = BackendError(code, operation: "test").appError
        #expect(error.localizedDescription == text)
        #expect((error as NSError).localizedDescription == text)
    }

    @Test(
        arguments: [
            (1, "The handle is invalid."), (2, "Reading is not permitted."), (3, "Writing is not permitted."),
            (5, "Authentication is insufficient."), (14, "Unlikely error."), (15, "Encryption is insufficient."),
            (6, "The request is not supported."), (10, "The attribute could not be found."),
            (13, "The value's length is invalid."), (0x85, "Unknown ATT error."),
        ] as [(UInt8, String)])
    func answersOfThePeerSayWhatApplesSay(code: UInt8, text: String) {
        #expect(BackendError.att(code, operation: "test").appError.localizedDescription == text)
    }

    @Test(arguments: CBATTError.Code.named + [CBATTError.Code(rawValue: 0x80)!])
    func noAnswerOfThePeerPrintsAsNull(code: CBATTError.Code) {
        let error = BackendError.att(UInt8(code.rawValue), operation: "test").appError
        let text = """
            Error Domain=CBATTErrorDomain Code=\(code.rawValue) "\(code.message)" \
            UserInfo={NSLocalizedDescription=\(code.message)}
            """
        #expect("\(error)" == text)
        #expect("\(CBATTError(code))" == "Error Domain=CBATTErrorDomain Code=\(code.rawValue) \"\(code.message)\"")
        #expect(error.localizedDescription == code.message)
    }

    @Test(arguments: CBError.Code.named + [CBError.Code(rawValue: 99)!])
    func noErrorOfTheSystemPrintsAsNull(code: CBError.Code) {
        let error = CBError(system: code)
        let text = """
            Error Domain=CBErrorDomain Code=\(code.rawValue) "\(code.message)" \
            UserInfo={NSLocalizedDescription=\(code.message)}
            """
        #expect("\(error)" == text)
        #expect("\(CBError(code))" == "Error Domain=CBErrorDomain Code=\(code.rawValue) \"\(code.message)\"")
        #expect(error.localizedDescription == code.message)
    }

    @Test func whatTheDaemonSaidStandsBesideTheText() {
        let error = BackendError(
            .connectionFailed, operation: "connect", daemonName: "org.bluez.Error.Failed",
            message: "le-connection-abort")
        let information = (error.appError as NSError).userInfo
        #expect(information[NSDebugDescriptionErrorKey] as? String == "org.bluez.Error.Failed: le-connection-abort")
    }
}
