import Testing

@testable import BluetoothHCI

/// The resolving list, and private addresses.
@Suite struct PrivacyTests {
    private var host = ControllerHost(wanted: ControllerHost.usual | 0x200)

    /// The sample data of the Core Specification, Vol 3, Part H, D.7.
    private static let peerKey = "9b7d390aa610103405adc857a33402ec"
    private static let privateAddress = HCIAddress(bits: 0x7081_940D_FBAA, isRandom: true)
    private static let peer = "010D180000DEC0"
    private static let localKey = "0102030405060708090A0B0C0D0E0F10"
    private static let noKey = String(repeating: "00", count: 16)

    private mutating func resolve(localKey: String = Self.noKey, inDeviceMode: Bool = false) {
        #expect(host.ask(0x2027, Self.peer + Self.peerKey + localKey) == ["040e0401272000"])
        if inDeviceMode { #expect(host.ask(0x204E, Self.peer + "01") == ["040e04014e2000"]) }
        #expect(host.ask(0x202D, "01") == ["040e04012d2000"])
    }

    // MARK: The list

    @Test mutating func theResolvingListHasABound() {
        #expect(host.ask(0x202A) == ["040e05012a200010"])
        let keys = Self.noKey + Self.noKey
        for index in 0..<ResolvingList.maximumCount {
            let device = "00" + ControllerHost.hex([UInt8(index), 0, 0, 0, 0, 0])
            #expect(host.ask(0x2027, device + keys) == ["040e0401272000"])
        }
        #expect(host.ask(0x2027, "01000000000000" + keys) == ["040e0401272007"])
        #expect(host.ask(0x2027, "00000000000000" + keys) == ["040e0401272012"])
        #expect(host.ask(0x2028, "00000000000000") == ["040e0401282000"])
        #expect(host.ask(0x2028, "00000000000000") == ["040e0401282002"])
        #expect(host.ask(0x204E, "0000000000000001") == ["040e04014e2002"])
        #expect(host.ask(0x2029) == ["040e0401292000"])
        #expect(host.ask(0x2028, "00010000000000") == ["040e0401282002"])
    }

    @Test mutating func theListDoesNotChangeWhileItIsUsed() {
        resolve()
        host.ask(0x200C, "0100")
        #expect(host.ask(0x2027, "00" + Self.noKey + Self.noKey + "000000000000") == ["040e040127200c"])
        #expect(host.ask(0x2028, Self.peer) == ["040e040128200c"])
        #expect(host.ask(0x2029) == ["040e040129200c"])
        #expect(host.ask(0x202D, "00") == ["040e04012d200c"])
        #expect(host.ask(0x204E, Self.peer + "01") == ["040e04014e200c"])
        host.ask(0x200C, "0000")
        #expect(host.ask(0x2029) == ["040e0401292000"])
    }

    @Test mutating func theTimeoutHasARange() {
        #expect(host.controller.privateAddressTimeout == .seconds(900))
        #expect(host.ask(0x202E, "0A00") == ["040e04012e2000"])
        #expect(host.controller.privateAddressTimeout == .seconds(10))
        #expect(host.ask(0x202E, "0000") == ["040e04012e2012"])
        #expect(host.ask(0x202E, "B9A1") == ["040e04012e2012"])
    }

    // MARK: Addresses of peers

    private static let identityReport = "043e0f020100030d180000dec003020106c4"

    @Test mutating func aPrivateAddressIsReportedAsTheIdentity() {
        resolve()
        host.ask(0x200C, "0101")
        #expect(host.handle(.heard(.heard(Self.privateAddress))) == [Self.identityReport])
        // Its identity is what makes a duplicate.
        #expect(host.handle(.heard(.heard(Self.privateAddress))) == [])
        #expect(host.ask(0x202B, Self.peer) == ["040e0a012b2000aafb0d948170"])
    }

    @Test mutating func withoutResolutionAPrivateAddressIsReportedAsItIs() {
        resolve()
        host.ask(0x202D, "00")
        host.ask(0x200C, "0100")
        #expect(
            host.handle(.heard(.heard(Self.privateAddress)))
                == [Self.identityReport.replacing("0003", with: "0001").replacing("0d180000dec0", with: "aafb0d948170")]
        )
        #expect(host.ask(0x202B, Self.peer) == ["040e04012b2002"])
    }

    @Test mutating func anAddressThatNoKeyResolvesIsReportedAsItIs() {
        resolve()
        host.ask(0x200C, "0100")
        let other = HCIAddress(bits: Self.privateAddress.bits ^ 1, isRandom: true)
        #expect(host.handle(.heard(.heard(other))).first?.contains("abfb0d948170") == true)
    }

    /// Vol 6, Part B, 6.6.
    @Test(arguments: [false, true])
    mutating func theIdentityAddressIsAcceptedInDevicePrivacyModeAlone(inDeviceMode: Bool) {
        resolve(inDeviceMode: inDeviceMode)
        host.ask(0x200C, "0100")
        #expect(host.handle(.heard(.heard())).count == (inDeviceMode ? 1 : 0))
    }

    @Test mutating func theAcceptListHasIdentities() {
        resolve()
        host.ask(0x2011, Self.peer)
        host.ask(0x200B, "00100010000001")
        host.ask(0x200C, "0100")
        #expect(host.handle(.heard(.heard(Self.privateAddress))).count == 1)
    }

    // MARK: Connecting

    private static let create = "6000 3000 00 01 0D180000DEC0 00 1800 1800 0000 A401 0000 0000"

    @Test mutating func aConnectToADeviceWithAPrivateAddressWaitsForIt() {
        resolve()
        #expect(host.ask(0x200D, Self.create) == ["040f0400010d20"])
        #expect(host.commands == [.scan(.init(isActive: false, includesExtended: false))])
        // The host does not scan.
        #expect(host.handle(.heard(.heard(Self.privateAddress))) == [])
        let settings = LinkLayerCommand.ConnectionSettings(
            address: ControllerHost.address, parameters: ControllerHost.parameters)
        #expect(host.commands == [.connect([Self.privateAddress], settings)])
        host.handle(.heard(.heard(Self.privateAddress)))
        #expect(host.commands == [])
        let enhanced = "043e1f0a00400000030d180000dec0000000000000aafb0d94817018000000a40101"
        #expect(host.connect(peer: Self.privateAddress) == [enhanced])
        #expect(host.commands == [.scan(nil)])
    }

    @Test mutating func theScanOfAConnectEndsWithItWhateverTheHostSets() {
        resolve()
        host.ask(0x200D, Self.create)
        #expect(host.ask(0x200B, "01100010000000") == ["040e04010b2000"])
        host.ask(0x200C, "0100")
        #expect(host.commands == [.scan(.init(isActive: true, includesExtended: false))])
        host.ask(0x200C, "0000")
        #expect(host.commands == [.scan(.init(isActive: false, includesExtended: false))])
        host.ask(0x200B, "01100010000000")
        host.connect(peer: Self.privateAddress)
        #expect(host.commands == [.scan(nil)])
    }

    @Test mutating func aConnectThatWaitsForAPrivateAddressCanBeCanceled() {
        resolve()
        host.ask(0x200D, Self.create)
        let packets = host.ask(0x200E)
        #expect(packets.first == "040e04010e2000")
        #expect(packets.last?.hasPrefix("043e1f0a02") == true)
        #expect(host.commands == [.scan(nil)])
    }

    @Test mutating func inDevicePrivacyModeBothAddressesAreTargets() {
        resolve(inDeviceMode: true)
        host.ask(0x200D, Self.create)
        host.handle(.heard(.heard(Self.privateAddress)))
        let settings = LinkLayerCommand.ConnectionSettings(
            address: ControllerHost.address, parameters: ControllerHost.parameters)
        #expect(host.commands == [.connect([ControllerHost.peer, Self.privateAddress], settings)])
    }

    @Test mutating func aCentralWithAPrivateAddressIsReportedAsTheIdentity() {
        resolve()
        host.ask(0x200A, "01")
        let packets = host.connect(isCentral: false, peer: Self.privateAddress)
        #expect(packets.first?.hasPrefix("043e1f0a00400001030d180000dec0") == true)
        #expect(packets.first?.contains("aafb0d948170") == true)
    }

    // MARK: The controller's own addresses

    private mutating func advertisedAddress() -> HCIAddress? {
        guard case .advertise(0, let settings?)? = host.commands.first else { return nil }
        return settings.address
    }

    private static let advertising = "A000 A000 00 02 01 0D180000DEC0 07 00"

    @Test mutating func aPrivateAddressIsMadeWithTheKeyForThePeer() throws {
        resolve(localKey: Self.localKey)
        host.ask(0x2006, Self.advertising)
        host.ask(0x200A, "01")
        let address = try #require(advertisedAddress())
        #expect(address.isRandom)
        #expect(address.bits >> 46 == 1)
        let key = Array(ControllerHost.bytes(Self.localKey).reversed())
        #expect(ResolvingList.hash(address.bits >> 24, key, ControllerHost.cipher) == address.bits & 0xFF_FFFF)
        #expect(host.ask(0x202C, Self.peer) == ["040e0a012c2000" + ControllerHost.hex(address.bytes)])
        // It is the address of the link.
        let packets = host.connect(isCentral: false, peer: Self.privateAddress)
        #expect(packets.first?.contains(ControllerHost.hex(address.bytes)) == true)
    }

    @Test mutating func privateAddressesChange() throws {
        resolve(localKey: Self.localKey)
        host.ask(0x2006, Self.advertising)
        host.ask(0x200A, "01")
        var addresses: Set<HCIAddress> = [try #require(advertisedAddress())]
        for _ in 0..<16 {
            guard case .advertise(0, let settings?)? = host.controller.renewPrivateAddresses().commands.first else {
                Issue.record("nothing is advertised")
                return
            }
            #expect(settings.address.bits >> 46 == 1)
            #expect(addresses.insert(settings.address).inserted)
        }
        host.ask(0x200A, "00")
        #expect(host.controller.renewPrivateAddresses() == Controller.Output())
    }

    @Test mutating func withoutAKeyTheOtherAddressIsUsed() {
        resolve()
        host.ask(0x2006, Self.advertising)
        host.ask(0x200A, "01")
        #expect(advertisedAddress() == ControllerHost.address)
        host.ask(0x200A, "00")
        host.ask(0x2006, "A000 A000 00 03 01 0D180000DEC0 07 00")
        #expect(host.ask(0x200A, "01") == ["040e04010a2012"])
        #expect(host.ask(0x202C, Self.peer) == ["040e04012c2002"])
    }
}
