import Testing

@testable import BluetoothHCI

@Suite struct SecurityTests {
    private var host = ControllerHost(wanted: ControllerHost.usual)

    private static let key: [UInt8] = (0..<16).map { $0 }
    /// Least significant byte first.
    private static let keyText = ControllerHost.hex(key.reversed())
    private static let start = "400008070605040302013412" + keyText

    /// FIPS 197, C.1; the least significant byte is the first in a packet.
    @Test mutating func aBlockIsEncrypted() {
        #expect(
            host.ask(0x2017, "0f0e0d0c0b0a09080706050403020100" + "ffeeddccbbaa99887766554433221100")
                == ["040e1401172000" + "5ac5b47080b7cdd830047b6ad8e0c469"])
    }

    @Test mutating func randomNumbersFollowTheSeedAndDiffer() {
        let first = host.ask(0x2018)
        #expect(first[0].hasPrefix("040e0c01182000"))
        #expect(host.ask(0x2018) != first)
        var other = ControllerHost()
        #expect(other.ask(0x2018) == first)
        // Reset does not repeat them.
        other.ask(0x0C03)
        #expect(other.ask(0x2018) != first)
    }

    // MARK: Central

    @Test mutating func theCentralStartsEncryption() {
        host.connect()
        #expect(host.ask(0x2019, Self.start) == ["040f0400011920"])
        #expect(
            host.commands == [
                .encrypt(handle: 0x40, key: Self.key, random: 0x0102_0304_0506_0708, diversifier: 0x1234)
            ])
        #expect(host.ask(0x2019, Self.start) == ["040f040c011920"])
        #expect(host.handle(.encryptionChanged(handle: 0x40, status: 0)) == ["04080400400001"])
    }

    @Test mutating func aNewKeyOfAnEncryptedLinkIsARefresh() {
        host.connect()
        host.ask(0x2019, Self.start)
        host.handle(.encryptionChanged(handle: 0x40, status: 0))
        #expect(host.ask(0x2019, Self.start) == ["040f0400011920"])
        #expect(host.handle(.encryptionChanged(handle: 0x40, status: 0)) == ["043003004000"])
    }

    @Test mutating func encryptionThatFailsCanBeTriedAgain() {
        host.connect()
        host.ask(0x2019, Self.start)
        #expect(host.handle(.encryptionChanged(handle: 0x40, status: 0x06)) == ["04080406400000"])
        #expect(host.ask(0x2019, Self.start) == ["040f0400011920"])
    }

    @Test mutating func aPeripheralCannotStartEncryption() {
        host.connect(isCentral: false)
        #expect(host.ask(0x2019, Self.start) == ["040f040c011920"])
        #expect(host.handle(.encryptionChanged(handle: 0x41, status: 0)) == [])
    }

    // MARK: Peripheral

    private static let requested = LinkLayerEvent.keyRequested(
        handle: 0x40, random: 0x0102_0304_0506_0708, diversifier: 0x1234)

    @Test mutating func theHostOfThePeripheralGivesTheKey() {
        host.connect(isCentral: false)
        #expect(host.ask(0x201A, "4000" + Self.keyText) == ["040e06011a200c4000"])
        #expect(host.handle(Self.requested) == ["043e0d05400008070605040302013412"])
        #expect(host.ask(0x201A, "4000" + Self.keyText) == ["040e06011a20004000"])
        #expect(host.commands == [.answerKeyRequest(handle: 0x40, key: Self.key)])
        #expect(host.ask(0x201A, "4000" + Self.keyText) == ["040e06011a200c4000"])
        #expect(host.handle(.encryptionChanged(handle: 0x40, status: 0)) == ["04080400400001"])
    }

    @Test mutating func theHostOfThePeripheralMayHaveNoKey() {
        host.connect(isCentral: false)
        #expect(host.ask(0x201B, "4000") == ["040e06011b200c4000"])
        host.handle(Self.requested)
        #expect(host.ask(0x201B, "4000") == ["040e06011b20004000"])
        #expect(host.commands == [.answerKeyRequest(handle: 0x40, key: nil)])
    }

    @Test mutating func aHostThatDoesNotWantTheRequestHasNoKey() {
        host.ask(0x2001, "0F00000000000000")
        host.connect(isCentral: false)
        #expect(host.handle(Self.requested) == [])
        #expect(host.commands == [.answerKeyRequest(handle: 0x40, key: nil)])
        #expect(host.ask(0x201B, "4000") == ["040e06011b200c4000"])
    }
}
