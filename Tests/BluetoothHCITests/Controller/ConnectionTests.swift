import Testing

@testable import BluetoothHCI

@Suite struct ConnectionTests {
    private var host = ControllerHost(wanted: ControllerHost.usual)

    /// To the peer, 30 ms, supervision timeout 4.2 s.
    private static let create = "6000 3000 00 01 0D180000DEC0 00 1800 1800 0000 A401 0000 0000"
    private static let created = "043e130100400000010d180000dec018000000a40101"
    private static let settings = LinkLayerCommand.ConnectionSettings(
        address: ControllerHost.address, parameters: ControllerHost.parameters)

    private static func failed(_ status: String, peer: String = "010d180000dec0") -> String {
        "043e1301" + status + "000000" + peer + "00000000000000"
    }

    // MARK: Creating

    @Test mutating func aConnectionIsAnsweredWithAStatusAndThenWithAnEvent() {
        #expect(host.ask(0x200D, Self.create) == ["040f0400010d20"])
        #expect(host.commands == [.connect([ControllerHost.peer], Self.settings)])
        #expect(host.ask(0x200D, Self.create) == ["040f040c010d20"])
        #expect(host.ask(0x2005, "010203040506") == ["040e040105200c"])
        #expect(host.connect() == [Self.created])
        #expect(host.ask(0x200D, Self.create) == ["040f040b010d20"])
        #expect(host.ask(0x200E) == ["040e04010e200c"])
    }

    @Test mutating func theEnhancedEventReplacesTheOtherIfTheHostWantsIt() {
        host.ask(0x2001, "FFFFFFFF00000000")
        host.ask(0x200D, Self.create)
        let enhanced = "043e1f0a00400000010d180000dec000000000000000000000000018000000a40101"
        // Then the algorithm of the channels: #2.
        #expect(host.connect() == [enhanced, "043e0414400001"])
        host.ask(0x200D, Self.create.replacing("0D18", with: "0E18"))
        host.ask(0x200E)
        let failed = "043e1f0a02000000010e180000dec000000000000000000000000000000000000000"
        #expect(host.handle(.connectEnded(status: 0x02)) == [failed])
    }

    @Test mutating func aCanceledConnectionEndsWithUnknownConnection() {
        #expect(host.ask(0x200E) == ["040e04010e200c"])
        host.ask(0x200D, Self.create)
        #expect(host.ask(0x200E) == ["040e04010e2000"])
        #expect(host.commands == [.cancelConnect])
        #expect(host.ask(0x200E) == ["040e04010e200c"])
        #expect(host.handle(.connectEnded(status: 0x13)) == [Self.failed("02")])
        #expect(host.handle(.connectEnded(status: 0x13)) == [])
        #expect(host.ask(0x200D, Self.create) == ["040f0400010d20"])
    }

    @Test mutating func aCancelThatComesTooLateLeadsToALink() {
        host.ask(0x200D, Self.create)
        host.ask(0x200E)
        #expect(host.connect() == [Self.created])
    }

    @Test mutating func aConnectThatFailsHasAnEvent() {
        host.ask(0x200D, Self.create)
        #expect(host.handle(.connectEnded(status: 0x15)) == [Self.failed("15")])
        host.ask(0x200D, Self.create)
        #expect(host.handle(.connectEnded(status: 0)) == [Self.failed("3e")])
    }

    @Test mutating func theAcceptListNamesTheDevicesIfThePolicySaysSo() {
        host.ask(0x2011, "010D180000DEC0")
        host.ask(0x2011, "00010000000000")
        host.ask(0x200D, "6000 3000 01 00 000000000000 00 1800 1800 0000 A401 0000 0000")
        #expect(
            host.commands == [
                .connect([ControllerHost.peer, HCIAddress(bits: 1, isRandom: false)], Self.settings)
            ])
        #expect(host.ask(0x2010) == ["040e040110200c"])
        host.ask(0x200E)
        #expect(host.handle(.connectEnded(status: 0x02)) == [Self.failed("02", peer: "00000000000000")])
        #expect(host.ask(0x2010) == ["040e0401102000"])
    }

    @Test mutating func aConnectedDeviceOfTheAcceptListIsNoTarget() {
        host.ask(0x2011, "010D180000DEC0")
        host.ask(0x2011, "00010000000000")
        host.connect()
        host.ask(0x200D, "6000 3000 01 00 000000000000 00 1800 1800 0000 A401 0000 0000")
        #expect(host.commands == [.connect([HCIAddress(bits: 1, isRandom: false)], Self.settings)])
    }

    @Test mutating func aConnectWithAnEmptyAcceptListCanBeCanceled() {
        #expect(host.ask(0x200D, "6000 3000 01 00 000000000000 00 1800 1800 0000 A401 0000 0000").count == 1)
        #expect(host.commands == [])
        #expect(host.ask(0x200E) == ["040e04010e2000", Self.failed("02", peer: "00000000000000")])
    }

    @Test(arguments: [
        "0300 0300 00 01 0D180000DEC0 00 1800 1800 0000 A401 0000 0000",
        "3000 6000 00 01 0D180000DEC0 00 1800 1800 0000 A401 0000 0000",
        "6000 3000 02 01 0D180000DEC0 00 1800 1800 0000 A401 0000 0000",
        "6000 3000 00 04 0D180000DEC0 00 1800 1800 0000 A401 0000 0000",
        "6000 3000 00 01 0D180000DEC0 04 1800 1800 0000 A401 0000 0000",
        "6000 3000 00 01 0D180000DEC0 00 0500 1800 0000 A401 0000 0000",
        "6000 3000 00 01 0D180000DEC0 00 1900 1800 0000 A401 0000 0000",
        "6000 3000 00 01 0D180000DEC0 00 1800 1800 F401 A401 0000 0000",
        "6000 3000 00 01 0D180000DEC0 00 1800 1800 0000 0900 0000 0000",
        // Shorter than two intervals at which the peripheral listens.
        "6000 3000 00 01 0D180000DEC0 00 800C 800C 0000 2003 0000 0000",
        "6000 3000 00 01 0D180000DEC0 00 1800 1800 0000 A401 0100 0000",
        // The random address is not set.
        "6000 3000 00 01 0D180000DEC0 01 1800 1800 0000 A401 0000 0000",
    ])
    mutating func parametersOutOfRangeAreInvalid(parameters: String) {
        #expect(host.ask(0x200D, parameters) == ["040f0412010d20"])
        #expect(host.commands == [])
    }

    @Test mutating func theNumberOfLinksHasABound() {
        for handle in 0..<UInt16(Controller.maximumLinks) {
            #expect(host.connect(handle, peer: HCIAddress(bits: UInt64(handle), isRandom: false)).count == 1)
        }
        #expect(host.ask(0x200D, Self.create) == ["040f0409010d20"])
        #expect(host.ask(0x200A, "01") == ["040e04010a2009"])
        #expect(host.connect(0x80) == [])
        #expect(host.commands == [.disconnect(handle: 0x80, reason: 0x14)])
        #expect(host.connect(0x0F00) == [])
    }

    // MARK: Ending

    @Test mutating func aDisconnectIsAnsweredWithAStatusAndThenWithAnEvent() {
        host.connect()
        #expect(host.ask(0x0406, "400012") == ["040f0412010604"])
        #expect(host.ask(0x0406, "400013") == ["040f0400010604"])
        #expect(host.commands == [.disconnect(handle: 0x40, reason: 0x13)])
        #expect(host.ask(0x0406, "400013") == ["040f040c010604"])
        #expect(host.handle(.disconnected(handle: 0x40, reason: 0x16)) == ["04050400400016"])
        #expect(host.handle(.disconnected(handle: 0x40, reason: 0x16)) == [])
        #expect(host.ask(0x0406, "400013") == ["040f0402010604"])
    }

    // MARK: The life of a link

    @Test mutating func anUpdateIsAnsweredWithAStatusAndThenWithAnEvent() {
        host.connect()
        #expect(host.ask(0x2013, "4000 0600 0C00 0000 6400 0000 0000") == ["040f0400011320"])
        let parameters = HCIConnectionParameters(
            interval: .milliseconds(15), latency: 0, supervisionTimeout: .seconds(1))
        #expect(host.commands == [.updateParameters(handle: 0x40, parameters)])
        #expect(host.ask(0x2013, "4000 0600 0C00 0000 6400 0000 0000") == ["040f040c011320"])
        let event = "043e0a030040000c0000006400"
        #expect(host.handle(.parametersChanged(handle: 0x40, status: 0, parameters)) == [event])
        // A change that the host did not ask for, and none.
        #expect(host.handle(.parametersChanged(handle: 0x40, status: 0, parameters)) == [])
        #expect(host.handle(.parametersChanged(handle: 0x40, status: 0, ControllerHost.parameters)).count == 1)
        #expect(host.handle(.parametersChanged(handle: 0x40, status: 0x3B, parameters)) == [])
        host.ask(0x2013, "4000 0600 0C00 0000 6400 0000 0000")
        #expect(host.handle(.parametersChanged(handle: 0x40, status: 0x3B, parameters)).count == 1)
    }

    @Test mutating func theHostAnswersARequestOfTheOtherEnd() {
        host.connect()
        #expect(host.ask(0x2020, "4000 1800 1800 0000 A401 0000 0000") == ["040e060120200c4000"])
        let requested = LinkLayerEvent.parametersRequested(handle: 0x40, ControllerHost.parameters)
        #expect(host.handle(requested) == ["043e0b064000180018000000a401"])
        #expect(host.ask(0x2020, "4000 1800 1800 0000 A401 0000 0000") == ["040e06012020004000"])
        #expect(host.commands == [.answerParametersRequest(handle: 0x40, ControllerHost.parameters)])
        host.handle(requested)
        #expect(host.ask(0x2021, "40003B") == ["040e06012120004000"])
        #expect(host.commands == [.answerParametersRequest(handle: 0x40, nil)])
        #expect(host.ask(0x2021, "40003B") == ["040e060121200c4000"])
    }

    @Test mutating func aRequestIsRejectedIfTheHostDoesNotWantItsEvent() {
        host.ask(0x2001, "1F00000000000000")
        host.connect()
        #expect(host.handle(.parametersRequested(handle: 0x40, ControllerHost.parameters)) == [])
        #expect(host.commands == [.answerParametersRequest(handle: 0x40, nil)])
    }

    @Test mutating func theFeaturesAndTheVersionOfTheOtherEndAreEvents() {
        host.connect()
        #expect(host.ask(0x2016, "4000") == ["040f0400011620", "043e0c040040006b59000000000000"])
        #expect(host.ask(0x041D, "4000") == ["040f0400011d04", "040c080040000bffff0000"])
    }

    @Test mutating func theSignalStrengthIsTheAnswerOfTheLinkLayer() {
        host.connect()
        #expect(host.ask(0x1405, "4000") == [])
        #expect(host.commands == [.readSignalStrength(handle: 0x40)])
        #expect(host.ask(0x1405, "4000") == ["040e060105140c4000"])
        #expect(host.handle(.signalStrength(handle: 0x40, -60)) == ["040e07010514004000c4"])
        #expect(host.handle(.signalStrength(handle: 0x40, -60)) == [])
        host.ask(0x1405, "4000")
        #expect(
            host.handle(.disconnected(handle: 0x40, reason: 8)) == ["040e07010514" + "0240007f", "04050400400008"])
    }

    @Test mutating func theCentralChoosesTheChannels() {
        host.connect(0x40)
        host.connect(0x41, isCentral: false)
        #expect(host.ask(0x2014, "FFFFFFFF0F") == ["040e0401142000"])
        #expect(host.ask(0x2015, "4000") == ["040e0b011520004000ffffffff0f"])
        #expect(host.ask(0x2015, "4100") == ["040e0b011520004100ffffffff1f"])
        #expect(host.ask(0x2014, "FFFFFFFF2F") == ["040e0401142012"])
        #expect(host.ask(0x2014, "0000000000") == ["040e0401142012"])
    }

    // MARK: Data length

    @Test mutating func aChangeOfTheDataLengthIsAnEvent() {
        host.connect()
        #expect(host.ask(0x202F) == ["040e0c012f2000fb009042fb009042"])
        let event = "043e0b074000fb004808fb004808"
        #expect(host.ask(0x2022, "4000 FB00 4808") == ["040e06012220004000", event])
        #expect(host.ask(0x2022, "4000 FB00 4808") == ["040e06012220004000"])
        #expect(host.ask(0x2022, "4000 1A00 4808") == ["040e06012220124000"])
        #expect(host.ask(0x2022, "4000 FB00 4701") == ["040e06012220124000"])
    }

    @Test mutating func theSuggestedDataLengthAppliesToNewLinks() {
        #expect(host.ask(0x2023) == ["040e08012320001b004801"])
        #expect(host.ask(0x2024, "FB004808") == ["040e0401242000"])
        #expect(host.ask(0x2023) == ["040e0801232000fb004808"])
        #expect(host.connect() == [Self.created, "043e0b074000fb004808fb004808"])
        #expect(host.ask(0x2024, "FC004808") == ["040e0401242012"])
    }

    // MARK: PHY

    @Test mutating func thePHYsAreChosenAndReported() {
        host.connect()
        #expect(host.ask(0x2030, "4000") == ["040e080130200040000101"])
        #expect(host.ask(0x2032, "4000 00 03 04 0000") == ["040f0400013220", "043e060c0040000203"])
        #expect(host.ask(0x2030, "4000") == ["040e080130200040000203"])
        // No preference for what is sent.
        #expect(host.ask(0x2032, "4000 01 00 01 0000") == ["040f0400013220", "043e060c0040000201"])
        #expect(host.ask(0x2032, "4000 00 00 01 0000") == ["040f0412013220"])
        #expect(host.ask(0x2032, "4000 00 08 01 0000") == ["040f0412013220"])
    }

    @Test mutating func theDefaultPHYsApplyToNewLinks() {
        #expect(host.ask(0x2031, "000707") == ["040e0401312000"])
        #expect(host.connect() == [Self.created])
        host.handle(.disconnected(handle: 0x40, reason: 0x13))
        #expect(host.ask(0x2031, "000202") == ["040e0401312000"])
        #expect(host.connect() == [Self.created, "043e060c0040000202"])
    }
}
