import Testing

@testable import BluetoothHCI

@Suite struct ExtendedAdvertisingTests {
    private var host = ControllerHost(wanted: ControllerHost.usual)

    /// Set 1 of 100 ms, from the public address, on 1M, with the number 5.
    private static func parameters(
        _ properties: String, set: String = "01", own: String = "00", policy: String = "00"
    ) -> String {
        set + properties + "A00000 A00000 07" + own + "010D180000DEC0" + policy + "7F 01 00 01 05 00"
    }

    private static func data(_ operation: UInt8, _ bytes: [UInt8]) -> String {
        ControllerHost.hex([1, operation, 1, UInt8(bytes.count)] + bytes)
    }

    private static func settings(
        data: [UInt8] = [], isConnectable: Bool = true, duration: Duration? = nil
    ) -> LinkLayerCommand.AdvertisingSettings {
        LinkLayerCommand.AdvertisingSettings(
            address: ControllerHost.address, data: data, scanResponse: [], interval: .milliseconds(100),
            isConnectable: isConnectable, isScannable: false, isExtended: true, peer: nil, acceptedCentrals: nil,
            setID: 5, duration: duration)
    }

    private static let enable = "01 01 01 0000 00"

    // MARK: A set

    @Test mutating func aSetAdvertisesItsData() {
        #expect(host.ask(0x2036, Self.parameters("0100")) == ["040e05013620000a"])
        #expect(host.ask(0x2037, Self.data(3, [2, 1, 6])) == ["040e0401372000"])
        #expect(host.commands == [])
        #expect(host.ask(0x2039, Self.enable) == ["040e0401392000"])
        #expect(host.commands == [.advertise(set: 1, Self.settings(data: [2, 1, 6]))])
        #expect(host.ask(0x2036, Self.parameters("0100")) == ["040e040136200c"])
        #expect(host.ask(0x2039, "00 01 01 0000 00") == ["040e0401392000"])
        #expect(host.commands == [.advertise(set: 1, nil)])
    }

    @Test mutating func aSetWithLegacyPacketsHasALegacyType() {
        host.ask(0x2036, Self.parameters("1300"))
        host.ask(0x2038, Self.data(3, [2, 10, 0]))
        host.ask(0x2039, Self.enable)
        guard case .advertise(1, let settings?)? = host.commands.first else {
            Issue.record("nothing is advertised")
            return
        }
        #expect(settings.isConnectable && settings.isScannable && !settings.isExtended)
        #expect(settings.setID == nil)
        #expect(settings.scanResponse == [2, 10, 0])
    }

    @Test(arguments: ["0300", "0800", "1100", "1400", "1700", "8000"])
    mutating func propertiesThatNoPacketHasAreInvalid(properties: String) {
        #expect(host.ask(0x2036, Self.parameters(properties)) == ["040e0401362012"])
    }

    @Test mutating func packetsWithoutAnAddressAreNotSupported() {
        #expect(host.ask(0x2036, Self.parameters("2000")) == ["040e0401362011"])
    }

    @Test mutating func theTransmitPowerIsTheNearestPossible() {
        let power = { (text: String) in Self.parameters("0100").replacing("7F", with: text) }
        #expect(host.ask(0x2036, power("14")) == ["040e05013620000a"])
        #expect(host.ask(0x2036, power("81")) == ["040e0501362000ec"])
        #expect(host.ask(0x2036, power("05")) == ["040e050136200005"])
        #expect(host.ask(0x2036, power("15")) == ["040e0401362012"])
    }

    @Test mutating func theNumberOfSetsHasABound() {
        for number in 0..<UInt8(AdvertisingSet.maximumCount) {
            #expect(
                host.ask(0x2036, Self.parameters("0100", set: ControllerHost.hex([number]))).first?.hasSuffix("000a")
                    == true)
        }
        #expect(host.ask(0x2036, Self.parameters("0100", set: "EF")) == ["040e0401362007"])
        #expect(host.ask(0x203C, "00") == ["040e04013c2000"])
        #expect(host.ask(0x2036, Self.parameters("0100", set: "EF")) == ["040e05013620000a"])
        #expect(host.ask(0x203C, "00") == ["040e04013c2042"])
        #expect(host.ask(0x2036, Self.parameters("0100", set: "F0")) == ["040e0401362012"])
    }

    @Test mutating func anEnabledSetIsNotRemoved() {
        host.ask(0x2036, Self.parameters("0100"))
        host.ask(0x2039, Self.enable)
        #expect(host.ask(0x203C, "01") == ["040e04013c200c"])
        #expect(host.ask(0x203D) == ["040e04013d200c"])
        // All sets.
        #expect(host.ask(0x2039, "0000") == ["040e0401392000"])
        #expect(host.commands == [.advertise(set: 1, nil)])
        #expect(host.ask(0x203D) == ["040e04013d2000"])
        #expect(host.ask(0x2039, Self.enable) == ["040e0401392042"])
    }

    // MARK: Data

    @Test mutating func fragmentsAreJoined() {
        host.ask(0x2036, Self.parameters("0000"))
        #expect(host.ask(0x203A) == ["040e06013a20007206"])
        #expect(host.ask(0x2037, Self.data(0, [1])) == ["040e0401372012"])
        #expect(host.ask(0x2037, Self.data(1, [1])) == ["040e0401372000"])
        #expect(host.ask(0x2037, Self.data(0, [2])) == ["040e0401372000"])
        #expect(host.ask(0x2039, Self.enable) == ["040e040139200c"])
        #expect(host.ask(0x2037, Self.data(2, [3])) == ["040e0401372000"])
        host.ask(0x2039, Self.enable)
        #expect(host.commands == [.advertise(set: 1, Self.settings(data: [1, 2, 3], isConnectable: false))])
        // While it advertises, whole data alone; 4 keeps it.
        #expect(host.ask(0x2037, Self.data(1, [1])) == ["040e040137200c"])
        #expect(host.ask(0x2037, Self.data(4, [])) == ["040e0401372000"])
        host.ask(0x2037, Self.data(3, [4]))
        #expect(host.commands == [.advertise(set: 1, Self.settings(data: [4], isConnectable: false))])
    }

    @Test mutating func dataHasABound() {
        host.ask(0x2036, Self.parameters("0000"))
        let part = [UInt8](repeating: 7, count: 251)
        host.ask(0x2037, Self.data(1, part))
        for _ in 0..<5 { #expect(host.ask(0x2037, Self.data(0, part)) == ["040e0401372000"]) }
        #expect(host.ask(0x2037, Self.data(0, part)) == ["040e0401372007"])
        // All of it is discarded.
        host.ask(0x2039, Self.enable)
        #expect(host.commands == [.advertise(set: 1, Self.settings(isConnectable: false))])
    }

    @Test mutating func dataThatTheTypeHasNoRoomForIsInvalid() {
        host.ask(0x2036, Self.parameters("1300"))
        #expect(host.ask(0x2037, Self.data(3, [UInt8](repeating: 7, count: 32))) == ["040e0401372012"])
        #expect(host.ask(0x2037, Self.data(1, [7])) == ["040e0401372012"])
        // An extended scannable set has its data in the scan response, and needs some.
        host.ask(0x2036, Self.parameters("0200"))
        #expect(host.ask(0x2037, Self.data(3, [7])) == ["040e0401372012"])
        #expect(host.ask(0x2039, Self.enable) == ["040e040139200c"])
        #expect(host.ask(0x2038, Self.data(3, [7])) == ["040e0401382000"])
        #expect(host.ask(0x2039, Self.enable) == ["040e0401392000"])
        host.ask(0x2039, "0000")
        // One that is not scannable has none, and keeps it for later.
        host.ask(0x2036, Self.parameters("0100"))
        host.ask(0x2039, Self.enable)
        #expect(host.commands == [.advertise(set: 1, Self.settings())])
        host.ask(0x2039, "0000")
        #expect(host.ask(0x2038, Self.data(3, [7])) == ["040e0401382012"])
        #expect(host.ask(0x2037, "01 03 01 02 07") == ["040e0401372012"])
    }

    @Test mutating func dataThatTheTypeHasNoRoomForIsNotOnTheAir() {
        host.ask(0x2036, Self.parameters("0000"))
        host.ask(0x2037, Self.data(3, [7]))
        host.ask(0x2036, Self.parameters("0200"))
        host.ask(0x2038, Self.data(3, [8]))
        host.ask(0x2039, Self.enable)
        guard case .advertise(1, let settings?)? = host.commands.first else {
            Issue.record("nothing is advertised")
            return
        }
        #expect(settings.data == [])
        #expect(settings.scanResponse == [8])
    }

    @Test mutating func aSetWithMoreDataThanALegacyPacketDoesNotBecomeALegacyOne() {
        host.ask(0x2036, Self.parameters("0100"))
        host.ask(0x2037, Self.data(3, [UInt8](repeating: 7, count: 32)))
        #expect(host.ask(0x2036, Self.parameters("1300")) == ["040e0401362012"])
    }

    // MARK: Addresses

    @Test mutating func aSetHasItsOwnRandomAddress() {
        host.ask(0x2005, "010203040506")
        #expect(host.ask(0x2035, "01010203040506") == ["040e0401352042"])
        host.ask(0x2036, Self.parameters("0000", own: "01"))
        #expect(host.ask(0x2039, Self.enable) == ["040e0401392012"])
        #expect(host.ask(0x2035, "010D180000DEC0") == ["040e0401352000"])
        host.ask(0x2039, Self.enable)
        guard case .advertise(1, let settings?)? = host.commands.first else {
            Issue.record("nothing is advertised")
            return
        }
        #expect(settings.address == ControllerHost.peer)
        // A set that is not connectable may change it.
        #expect(host.ask(0x2035, "010E180000DEC0") == ["040e0401352000"])
        #expect(host.commands.count == 1)
        host.ask(0x2039, "0000")
        host.ask(0x2036, Self.parameters("0100", own: "01"))
        host.ask(0x2039, Self.enable)
        #expect(host.ask(0x2035, "010D180000DEC0") == ["040e040135200c"])
        // The controller has a random address of its own, too.
        #expect(host.ask(0x2005, "010203040507") == ["040e0401052000"])
    }

    // MARK: Ends

    @Test mutating func aLinkTerminatesTheSet() {
        host.ask(0x2036, Self.parameters("0100"))
        host.ask(0x2036, Self.parameters("0100", set: "02"))
        host.ask(0x2039, "01 02 01 0000 00 02 0000 00")
        #expect(host.commands.count == 2)
        let packets = host.connect(isCentral: false, set: 2)
        #expect(packets.last == "043e06120002400000")
        host.ask(0x2039, "0000")
        #expect(host.commands == [.advertise(set: 1, nil)])
    }

    @Test mutating func aDurationTerminatesTheSet() {
        host.ask(0x2036, Self.parameters("0100"))
        #expect(host.ask(0x2039, "01 01 01 6400 00") == ["040e0401392000"])
        #expect(host.commands == [.advertise(set: 1, Self.settings(duration: .seconds(1)))])
        #expect(host.handle(.advertisingEnded(set: 1)) == ["043e06123c01000000"])
        #expect(host.handle(.advertisingEnded(set: 1)) == [])
    }

    @Test mutating func aNumberOfEventsTerminatesTheSet() {
        host.ask(0x2036, Self.parameters("0100"))
        host.ask(0x2039, "01 01 01 6400 03")
        #expect(host.commands == [.advertise(set: 1, Self.settings(duration: .milliseconds(300)))])
        #expect(host.handle(.advertisingEnded(set: 1)) == ["043e06124301000003"])
    }

    @Test mutating func aHighDutyCycleNeedsAShortDuration() {
        host.ask(0x2036, Self.parameters("1D00"))
        #expect(host.ask(0x2039, Self.enable) == ["040e0401392012"])
        #expect(host.ask(0x2039, "01 01 01 8100 00") == ["040e0401392012"])
        #expect(host.ask(0x2039, "01 01 01 8000 00") == ["040e0401392000"])
    }

    @Test mutating func anInvalidSetEnablesNone() {
        host.ask(0x2036, Self.parameters("0100"))
        #expect(host.ask(0x2039, "01 02 01 0000 00 02 0000 00") == ["040e0401392042"])
        #expect(host.ask(0x2039, "01 02 01 0000 00 01 0000 00") == ["040e0401392012"])
        #expect(host.ask(0x2039, "0100") == ["040e0401392012"])
        #expect(host.ask(0x2039, "01 02 01 0000 00") == ["040e0401392012"])
        #expect(host.commands == [])
        #expect(host.ask(0x203C, "01") == ["040e04013c2000"])
    }

    // MARK: Connecting

    @Test mutating func anExtendedConnectHasParametersForEachPHY() {
        let phy = "1000 1000 1800 1800 0000 A401 0000 0000"
        #expect(host.ask(0x2043, "00 00 010D180000DEC0 02" + phy) == ["040f0412014320"])
        #expect(host.ask(0x2043, "00 00 010D180000DEC0 05" + phy) == ["040f0412014320"])
        #expect(host.ask(0x2043, "00 00 010D180000DEC0 05" + phy + phy) == ["040f0400014320"])
        let settings = LinkLayerCommand.ConnectionSettings(
            address: ControllerHost.address, parameters: ControllerHost.parameters)
        #expect(host.commands == [.connect([ControllerHost.peer], settings)])
        #expect(host.connect().count == 1)
    }
}
