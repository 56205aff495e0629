import Testing

@testable import BluetoothHCI

/// Legacy advertising.
@Suite struct AdvertisingTests {
    private var host = ControllerHost(wanted: ControllerHost.usual)

    /// 100 ms, ADV_IND, public, all channels, no filter.
    private static let parameters = "A000 A000 00 00 00 000000000000 07 00"

    private static func settings(
        data: [UInt8] = [], scanResponse: [UInt8] = [], interval: Duration = .milliseconds(100)
    ) -> LinkLayerCommand.AdvertisingSettings {
        LinkLayerCommand.AdvertisingSettings(
            address: ControllerHost.address, data: data, scanResponse: scanResponse, interval: interval,
            isConnectable: true, isScannable: true, isExtended: false, peer: nil, acceptedCentrals: nil)
    }

    private static func data(_ bytes: [UInt8]) -> String {
        ControllerHost.hex([UInt8(bytes.count)] + bytes + [UInt8](repeating: 0, count: 31 - bytes.count))
    }

    private mutating func enabledSettings() -> LinkLayerCommand.AdvertisingSettings? {
        host.ask(0x200A, "01")
        guard case .advertise(0, let settings)? = host.commands.first else { return nil }
        return settings
    }

    @Test mutating func advertisingBeginsWithTheDataGivenBeforeAndAfterTheParameters() {
        #expect(host.ask(0x2008, Self.data([2, 1, 6])) == ["040e0401082000"])
        #expect(host.ask(0x2006, Self.parameters) == ["040e0401062000"])
        #expect(host.ask(0x2009, Self.data([2, 10, 0])) == ["040e0401092000"])
        #expect(host.commands == [])
        #expect(host.ask(0x200A, "01") == ["040e04010a2000"])
        #expect(host.commands == [.advertise(set: 0, Self.settings(data: [2, 1, 6], scanResponse: [2, 10, 0]))])
        #expect(host.ask(0x200A, "00") == ["040e04010a2000"])
        #expect(host.commands == [.advertise(set: 0, nil)])
        host.ask(0x200A, "00")
        #expect(host.commands == [])
    }

    @Test mutating func withoutParametersThoseOfTheSpecificationApply() {
        #expect(enabledSettings() == Self.settings(interval: .milliseconds(1_280)))
    }

    @Test mutating func newDataChangesThePacketsOnTheAir() {
        host.ask(0x2006, Self.parameters)
        host.ask(0x200A, "01")
        host.ask(0x2008, Self.data([2, 1, 6]))
        #expect(host.commands == [.advertise(set: 0, Self.settings(data: [2, 1, 6]))])
        #expect(host.ask(0x2006, Self.parameters) == ["040e040106200c"])
        #expect(host.ask(0x2005, "010203040506") == ["040e040105200c"])
    }

    @Test(arguments: [(0, true, true), (2, false, true), (3, false, false)])
    mutating func theTypeDecidesWhoMayAnswer(type: UInt8, isConnectable: Bool, isScannable: Bool) {
        host.ask(0x2006, "A000 A000 0\(type) 00 00 000000000000 07 00")
        let settings = enabledSettings()
        #expect(settings?.isConnectable == isConnectable)
        #expect(settings?.isScannable == isScannable)
        #expect(settings?.peer == nil)
    }

    @Test mutating func directedAdvertisingWithAHighDutyCycleEnds() {
        host.ask(0x2006, "0000 0000 01 00 01 0D180000DEC0 07 00")
        let settings = enabledSettings()
        #expect(settings?.peer == ControllerHost.peer)
        #expect(settings?.duration == .milliseconds(1_280))
        // LE Connection Complete with Advertising Timeout, in the peripheral's role.
        let event = "043e13013c000001010d180000dec000000000000000"
        #expect(host.handle(.advertisingEnded(set: 0)) == [event])
        #expect(host.handle(.advertisingEnded(set: 0)) == [])
        #expect(host.ask(0x2005, "010203040506") == ["040e0401052000"])
    }

    @Test mutating func aRandomAddressMustBeSetBeforeItIsUsed() {
        host.ask(0x2006, "A000 A000 00 01 00 000000000000 07 00")
        #expect(host.ask(0x200A, "01") == ["040e04010a2012"])
        host.ask(0x2005, "0D180000DEC0")
        #expect(enabledSettings()?.address == ControllerHost.peer)
    }

    @Test mutating func theAcceptListLimitsTheCentralsIfThePolicySaysSo() {
        host.ask(0x2011, "010D180000DEC0")
        host.ask(0x2006, "A000 A000 00 00 00 000000000000 07 02")
        #expect(enabledSettings()?.acceptedCentrals == [ControllerHost.peer])
        #expect(host.ask(0x2010) == ["040e040110200c"])
        host.ask(0x200A, "00")
        #expect(host.ask(0x2010) == ["040e0401102000"])
    }

    @Test mutating func aLinkEndsConnectableAdvertising() {
        host.ask(0x200A, "01")
        host.connect(isCentral: false)
        // Its parameters may change again, and it can begin again.
        #expect(host.ask(0x2006, Self.parameters) == ["040e0401062000"])
        #expect(enabledSettings() == Self.settings())
    }

    @Test(arguments: [
        "1F00 A000 00 00 00 000000000000 07 00", "A000 9F00 00 00 00 000000000000 07 00",
        "A000 A000 05 00 00 000000000000 07 00", "A000 A000 00 04 00 000000000000 07 00",
        "A000 A000 00 00 02 000000000000 07 00", "A000 A000 00 00 00 000000000000 00 00",
        "A000 A000 00 00 00 000000000000 07 04", "A000 0140 00 00 00 000000000000 07 00",
    ])
    mutating func parametersOutOfRangeAreInvalid(parameters: String) {
        #expect(host.ask(0x2006, parameters) == ["040e0401062012"])
    }

    @Test mutating func dataOfMoreThan31BytesIsInvalid() {
        #expect(host.ask(0x2008, "20" + String(repeating: "00", count: 31)) == ["040e0401082012"])
        #expect(host.ask(0x200A, "02") == ["040e04010a2012"])
    }
}
