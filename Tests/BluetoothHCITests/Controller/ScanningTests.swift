import Testing

@testable import BluetoothHCI

@Suite struct ScanningTests {
    private var host = ControllerHost(wanted: ControllerHost.usual)

    private static let report = "043e0f020100010d180000dec003020106c4"

    @Test mutating func aHostGetsTheReportsWhileItScans() {
        #expect(host.handle(.heard(.heard())) == [])
        #expect(host.ask(0x200B, "01100010000000") == ["040e04010b2000"])
        #expect(host.ask(0x200C, "0100") == ["040e04010c2000"])
        #expect(host.commands == [.scan(.init(isActive: true, includesExtended: false))])
        #expect(host.handle(.heard(.heard())) == [Self.report])
        #expect(host.handle(.heard(.heard())) == [Self.report])
        #expect(host.ask(0x200B, "01100010000000") == ["040e04010b200c"])
        #expect(host.ask(0x2005, "010203040506") == ["040e040105200c"])
        host.ask(0x200C, "0000")
        #expect(host.commands == [.scan(nil)])
        #expect(host.handle(.heard(.heard())) == [])
    }

    @Test mutating func theFilterDropsTheReportsThatEqualTheLastOneOfTheirAdvertiser() {
        host.ask(0x200C, "0101")
        #expect(host.handle(.heard(.heard())).count == 1)
        #expect(host.handle(.heard(.heard())) == [])
        #expect(host.handle(.heard(.heard(ControllerHost.peer, [2, 1, 4]))).count == 1)
        #expect(host.handle(.heard(.heard(ControllerHost.peer, [2, 1, 4]))) == [])
        #expect(host.handle(.heard(.heard())).count == 1)
        var nearer = AdvertisingReport.heard()
        nearer.rssi += 1
        #expect(host.handle(.heard(nearer)).count == 1)
        #expect(host.handle(.heard(nearer)) == [])
        #expect(host.handle(.heard(.heard(isScanResponse: true))).count == 1)
        #expect(host.handle(.heard(.heard(isScanResponse: true))) == [])
        #expect(host.handle(.heard(.heard(HCIAddress(bits: 1, isRandom: false)))).count == 1)
        // A scan that begins again has a new filter.
        host.ask(0x200C, "0000")
        host.ask(0x200C, "0101")
        #expect(host.handle(.heard(nearer)).count == 1)
    }

    @Test mutating func theFilterBeginsAnewWhenItIsFull() {
        host.ask(0x200C, "0101")
        for bits in 0..<UInt64(Scan.maximumDuplicates) {
            #expect(host.handle(.heard(.heard(HCIAddress(bits: bits, isRandom: false)))).count == 1)
        }
        #expect(host.handle(.heard(.heard(HCIAddress(bits: 0, isRandom: false)))) == [])
        #expect(host.handle(.heard(.heard(ControllerHost.peer))).count == 1)
        #expect(host.handle(.heard(.heard(HCIAddress(bits: 0, isRandom: false)))).count == 1)
        #expect(host.handle(.heard(.heard(HCIAddress(bits: 0, isRandom: false)))) == [])
    }

    @Test mutating func theAcceptListLimitsTheReportsIfThePolicySaysSo() {
        host.ask(0x2011, "010D180000DEC0")
        host.ask(0x200B, "00100010000001")
        host.ask(0x200C, "0100")
        #expect(host.handle(.heard(.heard())).count == 1)
        #expect(host.handle(.heard(.heard(HCIAddress(bits: 1, isRandom: false)))) == [])
        #expect(host.ask(0x2012, "010D180000DEC0") == ["040e040112200c"])
    }

    @Test mutating func aLegacyScanReportsNoExtendedPackets() {
        host.ask(0x200C, "0100")
        #expect(host.handle(.heard(.heard(setID: 3))) == [])
    }

    @Test mutating func aReportIsTruncatedAt31Bytes() {
        host.ask(0x200C, "0100")
        let report = AdvertisingReport.heard(ControllerHost.peer, [UInt8](repeating: 7, count: 400))
        #expect(host.handle(.heard(report)).map(\.count) == [2 * (3 + 12 + 31)])
    }

    @Test(arguments: ["02100010000000", "01030010000000", "01100011000000", "01100010000400", "01100010000004"])
    mutating func scanParametersOutOfRangeAreInvalid(parameters: String) {
        #expect(host.ask(0x200B, parameters) == ["040e04010b2012"])
    }

    @Test mutating func policiesForDirectedPacketsAreNotSupported() {
        #expect(host.ask(0x200B, "01100010000002") == ["040e04010b2011"])
    }

    @Test mutating func aScanFromARandomAddressNeedsOne() {
        host.ask(0x200B, "01100010000100")
        #expect(host.ask(0x200C, "0100") == ["040e04010c2012"])
        host.ask(0x2005, "010203040506")
        #expect(host.ask(0x200C, "0100") == ["040e04010c2000"])
    }

    // MARK: Accept list

    @Test mutating func theAcceptListHasABound() {
        #expect(host.ask(0x200F) == ["040e05010f200010"])
        for index in 0..<AcceptList.maximumCount {
            #expect(host.ask(0x2011, "00" + ControllerHost.hex([UInt8(index), 0, 0, 0, 0, 0])) == ["040e0401112000"])
        }
        #expect(host.ask(0x2011, "01000000000000") == ["040e0401112007"])
        #expect(host.ask(0x2011, "FF000000000000") == ["040e0401112007"])
        // One that is in the list already.
        #expect(host.ask(0x2011, "00000000000000") == ["040e0401112000"])
        #expect(host.ask(0x2012, "00000000000000") == ["040e0401122000"])
        #expect(host.ask(0x2012, "00000000000000") == ["040e0401122012"])
        #expect(host.ask(0x2011, "FF000000000000") == ["040e0401112000"])
        #expect(host.ask(0x2012, "FF000000000000") == ["040e0401122000"])
        #expect(host.ask(0x2011, "02000000000000") == ["040e0401112012"])
        #expect(host.ask(0x2010) == ["040e0401102000"])
    }

    // MARK: Extended

    /// One PHY, 1M, active, no filter.
    private static let extendedParameters = "00 00 01 01 1000 1000"

    @Test mutating func anExtendedScanReportsLegacyAndExtendedPackets() {
        #expect(host.ask(0x2041, Self.extendedParameters) == ["040e0401412000"])
        #expect(host.ask(0x2042, "010000000000") == ["040e0401422000"])
        #expect(host.commands == [.scan(.init(isActive: true, includesExtended: true))])
        // ADV_IND is 13, a scan response to it 1B, on 1M alone.
        let end = "010d180000dec00100ff7fc400000000000000000003020106"
        #expect(host.handle(.heard(.heard())) == ["043e1d0d011300" + end])
        #expect(host.handle(.heard(.heard(isScanResponse: true))) == ["043e1d0d011b00" + end])
        let extended = "010d180000dec00101037fc400000000000000000003020106"
        #expect(
            host.handle(.heard(.heard(isScannable: false, setID: 3))) == ["043e1d0d010100" + extended])
    }

    @Test mutating func aLongReportHasSeveralEvents() {
        host.ask(0x2041, Self.extendedParameters)
        host.ask(0x2042, "010000000000")
        let data = [UInt8](repeating: 7, count: 500)
        let packets = host.handle(
            .heard(.heard(ControllerHost.peer, data, isConnectable: false, isScannable: false, setID: 0)))
        #expect(packets.map { String($0.dropFirst(10).prefix(4)) } == ["2000", "2000", "0000"])
        #expect(packets.map(\.count) == [229, 229, 42].map { 2 * (29 + $0) })
        let tooLong = AdvertisingReport.heard(ControllerHost.peer, [UInt8](repeating: 7, count: 5000), setID: 0)
        #expect(host.handle(.heard(tooLong)).count == 8)
    }

    @Test mutating func theDurationEndsAScan() {
        host.ask(0x2041, Self.extendedParameters)
        #expect(host.ask(0x2042, "010064000000") == ["040e0401422000"])
        #expect(host.commands == [.scan(.init(isActive: true, includesExtended: true, duration: .seconds(1)))])
        #expect(host.handle(.scanEnded) == ["043e0111"])
        #expect(host.handle(.scanEnded) == [])
        #expect(host.handle(.heard(.heard())) == [])
    }

    @Test mutating func aPeriodicScanBeginsAgainWithANewFilter() {
        host.ask(0x2041, Self.extendedParameters)
        #expect(host.ask(0x2042, "010200000000") == ["040e0401422012"])
        #expect(host.ask(0x2042, "010281000100") == ["040e0401422012"])
        #expect(host.ask(0x2042, "010264000100") == ["040e0401422000"])
        #expect(host.handle(.heard(.heard())).count == 1)
        #expect(host.handle(.heard(.heard())) == [])
        #expect(host.handle(.scanEnded) == [])
        #expect(host.commands == [.scan(.init(isActive: true, includesExtended: true, duration: .seconds(1)))])
        #expect(host.handle(.heard(.heard())).count == 1)
    }

    @Test mutating func aScanHasParametersForEachPHY() {
        #expect(host.ask(0x2041, "00 00 05 01 1000 1000 00 1000 1000") == ["040e0401412000"])
        #expect(host.ask(0x2041, "00 00 05 01 1000 1000") == ["040e0401412012"])
        #expect(host.ask(0x2041, "00 00 02 01 1000 1000") == ["040e0401412012"])
    }
}
