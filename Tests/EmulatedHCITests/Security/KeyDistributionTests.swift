import BluetoothBackend
import BluetoothEmulator
import BluetoothHCI
import BluetoothSupport
import Testing

@testable import EmulatedHCI

/// The keys of a pairing, and the encryption of later links with them.
struct KeyDistributionTests {
    private static let sides = [LinkSide.central, .peripheral]

    private func paired(
        _ central: SecurityManager.Configuration, _ peripheral: SecurityManager.Configuration
    ) throws -> (link: PairingLink, keys: [LinkSide: SecurityKeys]) {
        var link = PairingLink(central, peripheral)
        link.handle(.central, .pair(isRequestedByUser: true))
        return (link, try #require(link.pairings.count == 2 ? link.pairings.mapValues(\.keys) : nil))
    }

    @Test func inLegacyPairingBothSidesDistributeAllKeysAndThePeripheralBegins() throws {
        let (link, keys) = try paired(
            .side(.central, secureConnections: false).with { $0.exchangesSigningKeys = true },
            .side(.peripheral, secureConnections: false).with { $0.exchangesSigningKeys = true })
        let distributed = link.packets.suffix(10)
        #expect(
            distributed.map(\.sender) == [LinkSide](repeating: .peripheral, count: 5)
                + [LinkSide](repeating: .central, count: 5))
        #expect(distributed.map(\.bytes[0]) == [6, 7, 8, 9, 10, 6, 7, 8, 9, 10])
        let central = try #require(keys[.central])
        #expect(central.own.longTermKey != central.peer.longTermKey)
        #expect(central.own.signingKey != nil && central.own.signingKey != central.peer.signingKey)
        #expect(central.own == keys[.peripheral]?.peer && central.peer == keys[.peripheral]?.own)
        // The link has the short-term key.
        #expect(link.encryptions[0] != central.peer.longTermKey?.value)
    }

    @Test func inSecureConnectionsOnlyTheIdentitiesAreDistributed() throws {
        let (link, _) = try paired(.side(.central), .side(.peripheral))
        #expect(link.packets.suffix(4).map(\.bytes[0]) == [8, 9, 8, 9])
        #expect(link.packets[1].bytes == [2, 3, 0, 0x09, 16, 2, 2])
    }

    @Test(arguments: sides)
    func aSideWithoutAnIdentityKeyDistributesNoIdentity(_ side: LinkSide) throws {
        func configuration(_ own: LinkSide) -> SecurityManager.Configuration {
            .side(own).with { if own == side { $0.identityKey = nil } }
        }
        let (link, keys) = try paired(configuration(.central), configuration(.peripheral))
        #expect(link.packets.suffix(2).map(\.sender) == [side.other, side.other])
        #expect(keys[side]?.own.identityAddress == nil && keys[side.other]?.peer.identityKey == nil)
        #expect(keys[side]?.peer.identityKey != nil)
    }

    @Test(arguments: sides, [true, false])
    func withoutBondingNoKeysAreDistributed(_ side: LinkSide, secureConnections: Bool) throws {
        func configuration(_ own: LinkSide) -> SecurityManager.Configuration {
            .side(own, secureConnections: secureConnections).with { $0.isBondable = own != side }
        }
        let (link, keys) = try paired(configuration(.central), configuration(.peripheral))
        #expect(link.pairings[.central]?.isBonded == false && link.pairings[.peripheral]?.isBonded == false)
        #expect(link.packets.allSatisfy { !(0x06...0x0A).contains($0.bytes[0]) })
        #expect(
            keys[.central]?.peer.identityKey == nil && (keys[.central]?.peer.longTermKey != nil) == secureConnections)
    }

    @Test(arguments: [
        HCIAddress(bits: 0x4000_0000_0001, isRandom: true), HCIAddress(bits: 0x0000_0000_0001, isRandom: true),
        HCIAddress(bits: 0x8000_0000_0001, isRandom: true),
    ])
    func aPrivateAddressIsRejectedAsAnIdentity(_ address: HCIAddress) {
        var link = PairingLink(.side(.central), .side(.peripheral).with { $0.identityAddress = address })
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.failures[.central] == [.ended(.keyRejected)] && link.reasons == [0x0F])
        #expect(link.pairings.isEmpty && link.isQuiet)
    }

    @Test func keysBeforeEncryptionAreNotTaken() {
        var link = PairingLink(.side(.central), .side(.peripheral))
        link.rewrite = { _, _, packet in packet[0] == 0x0D ? [0x08] + [UInt8](repeating: 1, count: 16) : packet }
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.isEnded(by: .peripheral, .unspecified))
    }

    @Test func aCentralThatDoesNotBondGetsNoKeys() {
        var link = PairingLink(.side(.central), .side(.peripheral))
        link.handle(.peripheral, .received([0x01, 3, 0, 0x08, 16, 3, 3]))
        #expect(link.packets.first?.bytes == [0x02, 3, 0, 0x09, 16, 0, 0])
    }

    // MARK: Later links

    @Test(arguments: [true, false])
    func aLaterLinkIsEncryptedWithTheKeysOfThePairing(secureConnections: Bool) throws {
        let configurations = Self.sides.map {
            SecurityManager.Configuration.side(
                $0, $0 == .central ? .keyboardOnly : .displayOnly, secureConnections: secureConnections)
        }
        let (_, keys) = try paired(configurations[0], configurations[1])
        for starter in Self.sides {
            var link = PairingLink(configurations[0], configurations[1], keys: keys)
            link.handle(starter, .encrypt)
            #expect(link.encryptions == [keys[.central]?.peer.longTermKey?.value])
            #expect(link.encrypted == [.central: [true], .peripheral: [true]])
            #expect(link.pairings.isEmpty && link.isQuiet && link.packets.count == (starter == .central ? 0 : 1))
            // The link is secure enough for a further security request.
            link.handle(.peripheral, .pair(isRequestedByUser: true))
            #expect(link.encryptions.count == 1 && link.pairings.isEmpty)
            #expect(Set(link.resumptions) == [.central, .peripheral])
        }
    }

    @Test(arguments: [true, false])
    func theSidesOfALaterLinkMayBeTheOtherWayRound(secureConnections: Bool) throws {
        let (_, keys) = try paired(
            .side(.central, secureConnections: secureConnections),
            .side(.peripheral, secureConnections: secureConnections))
        var link = PairingLink(
            .side(.central), .side(.peripheral),
            keys: [.central: keys[.peripheral], .peripheral: keys[.central]].compactMapValues { $0 })
        link.handle(.central, .encrypt)
        #expect(link.encryptions == [keys[.central]?.own.longTermKey?.value])
    }

    @Test func theSameLinkIsEncryptedAgainWithTheKeysOfThePairing() throws {
        var (link, keys) = try paired(.side(.central, secureConnections: false), .side(.peripheral))
        link.handle(.central, .encrypt)
        #expect(link.encryptions.count == 2 && link.encryptions.last == keys[.central]?.peer.longTermKey?.value)
    }

    @Test func aPeerThatLostItsKeysIsPairedAnewOnlyIfItIsAskedFor() throws {
        let (_, keys) = try paired(.side(.central), .side(.peripheral))
        var link = PairingLink(.side(.central), .side(.peripheral), keys: keys.filter { $0.key == .central })
        link.handle(.central, .encrypt)
        #expect(link.failures[.central] == [.encryption(status: 0x06)] && link.packets.isEmpty)
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.pairings.count == 2 && link.ends[.central]?.keys == link.pairings[.central]?.keys)
    }

    @Test func keysThatDifferDoNotEncrypt() throws {
        var (_, keys) = try paired(.side(.central), .side(.peripheral))
        keys[.peripheral]?.own.longTermKey?.value[0] ^= 1
        var link = PairingLink(.side(.central), .side(.peripheral), keys: keys)
        link.handle(.central, .encrypt)
        let failure = SecurityManager.Failure.encryption(status: 0x3D)
        #expect(link.failures == [.central: [failure], .peripheral: [failure]])
        #expect(link.ends[.central]?.isEncrypted == false)
    }

    @Test func aKeyOfAnotherNameIsNotGiven() throws {
        let (_, keys) = try paired(.side(.central, secureConnections: false), .side(.peripheral))
        let key = try #require(keys[.peripheral]?.own.longTermKey)
        var manager = try #require(
            PairingLink(.side(.central), .side(.peripheral), keys: keys).ends[.peripheral])
        #expect(
            manager.handle(.keyRequested(random: key.random, diversifier: key.diversifier &+ 1))
                == [.answerKeyRequest(key: nil)])
        #expect(
            manager.handle(.keyRequested(random: key.random &+ 1, diversifier: key.diversifier))
                == [.answerKeyRequest(key: nil)])
        #expect(
            manager.handle(.keyRequested(random: key.random, diversifier: key.diversifier))
                == [.answerKeyRequest(key: key.value)])
    }

    @Test func thePeripheralAnswersWithTheKeyOfThePairingUnderNoOtherName() throws {
        var link = PairingLink(.side(.central), .side(.peripheral))
        // The central does not learn that the peripheral has the key.
        link.rewrite = { sender, _, packet in packet[0] == 0x0D && sender == .peripheral ? nil : packet }
        link.handle(.central, .pair(isRequestedByUser: true))
        var manager = try #require(link.ends[.peripheral])
        #expect(manager.handle(.keyRequested(random: 0, diversifier: 1)) == [.answerKeyRequest(key: nil)])
        #expect(manager.handle(.keyRequested(random: 1, diversifier: 0)) == [.answerKeyRequest(key: nil)])
        #expect(manager.handle(.keyRequested(random: 0, diversifier: 0)) != [.answerKeyRequest(key: nil)])
    }

    @Test func aRefusedRequestDoesNotEndTheEncryptionWithEarlierKeys() throws {
        let (_, keys) = try paired(.side(.central), .side(.peripheral))
        var central = try #require(PairingLink(.side(.central), .side(.peripheral), keys: keys).ends[.central])
        _ = central.handle(.encrypt)
        #expect(
            central.handle(.received([0x01, 3, 0, 1, 16, 2, 2]))
                == [.send([0x05, 0x07]), .failed(.ended(.commandNotSupported))])
        #expect(central.handle(.encryptionChanged(status: 0)) == [.encrypted(isAuthenticated: false), .resumed])
    }

    @Test func aRequestThatEarlierKeysFulfillIsNoConsentToAPairing() throws {
        let (_, keys) = try paired(.side(.central), .side(.peripheral))
        var link = PairingLink(.side(.central), .side(.peripheral), keys: keys)
        link.handle(.peripheral, .pair(isRequestedByUser: true))
        #expect(link.encryptions.count == 1 && link.pairings.isEmpty)
        link.handle(.central, .pair(isRequestedByUser: true))
        #expect(link.questions == [.central: [], .peripheral: [.consent]])
    }

    @Test func duringAPairingNoOtherKeyIsGiven() throws {
        let (_, keys) = try paired(.side(.central), .side(.peripheral))
        var link = PairingLink(.side(.central), .side(.peripheral), keys: keys)
        link.answer = { _, _, _ in nil }
        link.handle(.central, .pair(isRequestedByUser: true))
        var manager = try #require(link.ends[.peripheral])
        #expect(manager.handle(.keyRequested(random: 0, diversifier: 0)) == [.answerKeyRequest(key: nil)])
    }

    @Test func withoutKeysARequestForEncryptionPairs() {
        for starter in Self.sides {
            var link = PairingLink(.side(.central), .side(.peripheral))
            link.handle(starter, .encrypt)
            #expect(link.pairings.count == 2 && link.encryptions.count == 1)
            #expect(link.resumptions == [])
        }
    }

    @Test func keysThatAreNotAuthenticatedDoNotFulfillARequestForAuthentication() throws {
        let (_, keys) = try paired(.side(.central), .side(.peripheral))
        var link = PairingLink(.side(.central, .displayYesNo), .side(.peripheral, .displayYesNo), keys: keys)
        link.handle(.central, .encrypt)
        #expect(link.encrypted[.central] == [false])
        link.handle(.peripheral, .encrypt)
        #expect(link.pairings[.central]?.keys.isAuthenticated == true)
        #expect(link.encrypted == [.central: [false, true], .peripheral: [false, true]])
    }

    @Test func afterATimeoutTheLinkCanStillBeEncryptedWithEarlierKeys() throws {
        let (_, keys) = try paired(.side(.central), .side(.peripheral))
        var manager = try #require(PairingLink(.side(.central), .side(.peripheral), keys: keys).ends[.peripheral])
        _ = manager.handle(.received([0x01, 3, 0, 1, 16, 2, 2]))
        _ = manager.handle(.timedOut)
        let key = try #require(keys[.peripheral]?.own.longTermKey)
        #expect(manager.handle(.keyRequested(random: 0, diversifier: 0)) == [.answerKeyRequest(key: key.value)])
        #expect(manager.handle(.encryptionChanged(status: 0)) == [.encrypted(isAuthenticated: false), .resumed])
        #expect(manager.isEncrypted)
        #expect(manager.handle(.disconnected) == [] && !manager.isEncrypted)
    }
}
