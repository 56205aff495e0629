import CoreBluetoothClasses
import Testing

@Suite struct ErrorTests {
    private static let codes: [(CBError.Code, Int)] = [
        (CBError.unknown, 0), (CBError.invalidParameters, 1), (CBError.invalidHandle, 2), (CBError.notConnected, 3),
        (CBError.outOfSpace, 4), (CBError.operationCancelled, 5), (CBError.connectionTimeout, 6),
        (CBError.peripheralDisconnected, 7), (CBError.uuidNotAllowed, 8), (CBError.alreadyAdvertising, 9),
        (CBError.connectionFailed, 10), (CBError.connectionLimitReached, 11), (CBError.unkownDevice, 12),
        (CBError.unknownDevice, 12), (CBError.operationNotSupported, 13),
        (CBError.peerRemovedPairingInformation, 14), (CBError.encryptionTimedOut, 15),
        (CBError.tooManyLEPairedDevices, 16), (CBError.leGattExceededBackgroundNotificationLimit, 17),
        (CBError.leGattNearBackgroundNotificationLimit, 18),
    ]

    private static let attCodes: [(CBATTError.Code, Int)] = [
        (CBATTError.success, 0x00), (CBATTError.invalidHandle, 0x01), (CBATTError.readNotPermitted, 0x02),
        (CBATTError.writeNotPermitted, 0x03), (CBATTError.invalidPdu, 0x04),
        (CBATTError.insufficientAuthentication, 0x05), (CBATTError.requestNotSupported, 0x06),
        (CBATTError.invalidOffset, 0x07), (CBATTError.insufficientAuthorization, 0x08),
        (CBATTError.prepareQueueFull, 0x09), (CBATTError.attributeNotFound, 0x0A),
        (CBATTError.attributeNotLong, 0x0B), (CBATTError.insufficientEncryptionKeySize, 0x0C),
        (CBATTError.invalidAttributeValueLength, 0x0D), (CBATTError.unlikelyError, 0x0E),
        (CBATTError.insufficientEncryption, 0x0F), (CBATTError.unsupportedGroupType, 0x10),
        (CBATTError.insufficientResources, 0x11),
    ]

    @Test(arguments: codes)
    func codesHaveApplesNumbers(code: CBError.Code, number: Int) {
        #expect(code.rawValue == number)
        #expect(CBError.Code(rawValue: number) == code)
        #expect(CBError(code).code == code)
        #expect(CBError(code).errorCode == number)
    }

    @Test(arguments: attCodes)
    func attCodesHaveTheNumbersOfTheSpecification(code: CBATTError.Code, number: Int) {
        #expect(code.rawValue == number)
        #expect(CBATTError.Code(rawValue: number) == code)
        #expect(CBATTError(code).code == code)
        #expect((CBATTError(code) as NSError).code == number)
    }

    @Test(arguments: [0x80, 0x85, 0xFC, 0xFF])
    func codesOfApplicationsPassUnchanged(number: Int) throws {
        let code = try #require(CBATTError.Code(rawValue: number))
        #expect(code.rawValue == number)
        #expect(CBATTError(code).errorCode == number)
        #expect(CBATTError(_nsError: NSError(domain: CBATTErrorDomain, code: number)).code == code)
        let other = try #require(CBError.Code(rawValue: number))
        #expect(CBError(other).code.rawValue == number)
    }

    @Test func anErrorIsCaughtByItsCode() {
        do {
            throw CBError(.notConnected)
        } catch CBError.connectionTimeout {
            Issue.record("another code matched")
        } catch CBError.notConnected {
            return
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func anErrorMatchesPatternsOfItsOwnDomainOnly() {
        let error: any Error = CBATTError(.readNotPermitted)
        var matched: [String] = []
        if case CBATTError.readNotPermitted = error { matched.append("CBATTError 2") }
        if case CBError.invalidHandle = error { matched.append("CBError 2") }
        #expect(matched == ["CBATTError 2"])
        #expect(error as? CBError == nil)
        #expect((error as? CBATTError)?.code == .readNotPermitted)
        #expect((error as? CBATTError)?.code == CBATTError.readNotPermitted)
    }

    @Test func anErrorIsAFoundationErrorToo() {
        let error: any Error = CBError(.connectionTimeout, userInfo: ["key": "value"])
        let foundation = error as NSError
        #expect(foundation.domain == CBErrorDomain)
        #expect(foundation.code == 6)
        #expect(foundation.userInfo["key"] as? String == "value")
        #expect(CBError(_nsError: foundation).code == .connectionTimeout)
        #expect(CBError.errorDomain == "CBErrorDomain")
        #expect(CBATTError.errorDomain == "CBATTErrorDomain")
        #expect(CBError(.connectionTimeout, userInfo: ["key": "value"]).errorUserInfo["key"] as? String == "value")
    }

    @Test func errorsWithEqualDomainCodeAndInformationAreEqual() {
        #expect(CBError(.notConnected) == CBError(.notConnected))
        #expect(CBError(.notConnected) != CBError(.connectionTimeout))
        #expect(CBError(.notConnected) != CBError(.notConnected, userInfo: ["key": "value"]))
        #expect(Set([CBError(.notConnected), CBError(.notConnected)]).count == 1)
        #expect(CBError(.notConnected).hashValue == CBError(.notConnected).hashValue)
        #expect(Set([CBATTError(.readNotPermitted), CBATTError(.writeNotPermitted)]).count == 2)
    }

    @Test func anErrorMadeByAnAppCarriesWhatTheAppGave() {
        #expect(CBError(.connectionTimeout).errorUserInfo.isEmpty)
        #expect(CBATTError(.readNotPermitted).errorUserInfo.isEmpty)
    }

    @Test func openCodesAreSwitchedOverWithADefault() throws {
        func name(_ code: CBATTError.Code) -> String {
            switch code {
            case .success: "success"
            case .insufficientEncryption, .insufficientAuthentication: "pairing"
            default: "other"
            }
        }
        #expect(name(.insufficientEncryption) == "pairing")
        #expect(name(try #require(CBATTError.Code(rawValue: 0x90))) == "other")
    }

    @Test func anErrorIsCastToFoundationsClass() {
        let lost: (any Error)? = CBError(.connectionTimeout, userInfo: ["key": "value"])
        let foundation = lost as? NSError
        #expect(foundation?.domain == CBErrorDomain && foundation?.code == 6)
        #expect(foundation?.userInfo["key"] as? String == "value")
        #expect(((lost as Any) as? NSError)?.code == 6)
        #expect((lost as NSError?)?.code == 6)
        let refused: (any Error)? = CBATTError(.readNotPermitted)
        #expect((refused as? NSError)?.domain == CBATTErrorDomain)
        #expect((refused as Any) is NSError)
    }

    @Test func anErrorIsCaughtAsFoundationsClass() {
        var caught: [Int] = []
        for error in [CBError(.connectionTimeout), CBATTError(.readNotPermitted)] as [any Error] {
            do { throw error } catch let error as NSError { caught.append(error.code) }
        }
        switch CBError(.notConnected) as any Error {
        case let error as NSError where error.domain == CBErrorDomain: caught.append(error.code)
        default: break
        }
        #expect(caught == [6, 2, 3])
    }

    /// An error that is archived, created by hand or taken from a dictionary is of Foundation's class.
    @Test func anErrorOfFoundationsClassMatchesTheCodesOfItsDomain() {
        let errors: [any Error] = [
            NSError(domain: CBErrorDomain, code: 7), NSError(domain: CBATTErrorDomain, code: 2),
            NSError(domain: CBATTErrorDomain, code: 0x85), NSError(domain: CBErrorDomain, code: 900),
            NSError(domain: CBErrorDomain, code: -1), NSError(domain: "foreign", code: 7),
        ]
        let matches = errors.map { error in
            do {
                throw error
            } catch CBError.peripheralDisconnected {
                return "disconnected"
            } catch CBATTError.readNotPermitted {
                return "not permitted"
            } catch let error as CBATTError {
                return "CBATTError \(error.code.rawValue)"
            } catch let error as CBError {
                return "CBError \(error.code.rawValue)"
            } catch {
                return "other"
            }
        }
        #expect(
            matches == ["disconnected", "not permitted", "CBATTError 133", "CBError 900", "CBError -1", "other"])
    }

    @Test func anErrorOfAnotherDomainIsNoErrorOfBluetooth() {
        let foreign: [any Error] = [
            NSError(domain: "foreign", code: 3), CocoaError(.fileNoSuchFile), POSIXError(.EPIPE), CancellationError(),
        ]
        for error in foreign {
            #expect(error as? CBError == nil && error as? CBATTError == nil)
        }
        #expect(NSError(domain: CBErrorDomain, code: 3) as (any Error) as? CBATTError == nil)
        #expect(NSError(domain: CBATTErrorDomain, code: 3) as (any Error) as? CBError == nil)
    }

    @Test func aCastThereAndBackKeepsTheError() throws {
        let error = CBError(.notConnected, userInfo: [NSLocalizedDescriptionKey: "gone"])
        let foundation = try #require(error as Any as? NSError)
        let back = try #require(foundation as Any as? CBError)
        #expect(back == error)
        #expect("\(foundation)" == "\(error)")
        #expect(Set([back, CBError(_nsError: foundation)]).count == 1)
    }
}
