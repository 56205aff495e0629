import BluetoothEmulator
import CoreBluetoothMock
import CoreBluetoothTesting
import Testing

@Suite(.emulator()) struct ScanTests {
    private let emulator = Emulator.current

    /// Returns a spec that only advertises.
    private func beacon(
        _ data: [String: Any], interval: TimeInterval = 0.1, delay: TimeInterval = 0, proximity: CBMProximity = .near
    ) -> CBMPeripheralSpec {
        CBMPeripheralSpec.simulatePeripheral(proximity: proximity)
            .advertising(advertisementData: data, withInterval: interval, delay: delay).build()
    }

    @Test func `A scan without duplicates reports each peripheral once, and a new scan reports it anew`() async throws {
        let client = try await Client.on(Sensor().spec("One"), Sensor().spec("Two"))
        for _ in 0..<2 {
            client.manager.scanForPeripherals(withServices: nil)
            #expect(client.manager.isScanning)
            try await emulator.advance(by: .seconds(2))
            #expect(client.take().sorted() == ["found One", "found Two"])
        }
        client.manager.stopScan()
        #expect(!client.manager.isScanning)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == [])
    }

    @Test func `Peripherals of one interval are found in the order of the list`() async throws {
        for _ in 0..<6 {
            // The identifiers are new each time, and therefore the addresses.
            let client = try await Client.on(Sensor().spec("a"), Sensor().spec("b"), Sensor().spec("c"))
            client.manager.scanForPeripherals(withServices: nil)
            try await emulator.advance(by: .milliseconds(101))
            #expect(client.take() == ["found a", "found b", "found c"])
            CBMCentralManagerMock.tearDownSimulation()
            try await emulator.advance(by: .seconds(1))
        }
    }

    @Test func `A scan with duplicates reports every packet`() async throws {
        let client = try await Client.on(Sensor().spec())
        client.manager.scanForPeripherals(
            withServices: nil, options: [CBMCentralManagerScanOptionAllowDuplicatesKey: true as NSNumber])
        try await emulator.advance(by: .seconds(1))
        #expect((9...11).contains(client.take().count))
    }

    @Test func `A filter passes peripherals that advertise or solicit one of the services`() async throws {
        let uuid = CBMUUID(string: "180D")
        let client = try await Client.on(
            beacon([CBMAdvertisementDataLocalNameKey: "other"]),
            beacon([CBMAdvertisementDataLocalNameKey: "offers", CBMAdvertisementDataServiceUUIDsKey: [uuid]]),
            beacon([CBMAdvertisementDataLocalNameKey: "looks", CBMAdvertisementDataSolicitedServiceUUIDsKey: [uuid]]))
        client.manager.scanForPeripherals(
            withServices: [uuid], options: [CBMCentralManagerScanOptionSolicitedServiceUUIDsKey: [uuid]])
        try await emulator.advance(by: .seconds(1))
        #expect(client.take().sorted() == ["found looks", "found offers"])
    }

    @Test func `Keys that no packet has, and data that no packet holds, are in the report`() async throws {
        let name = "A name that does not fit beside the rest of the packet"
        let long = Data(repeating: 7, count: 300)
        let client = try await Client.on(
            beacon([
                CBMAdvertisementDataLocalNameKey: name,
                CBMAdvertisementDataManufacturerDataKey: long, "aKeyOfItsOwn": 5,
                CBMAdvertisementDataTxPowerLevelKey: -4 as NSNumber,
                CBMAdvertisementDataServiceDataKey: [CBMUUID(string: "180F"): Data([9])],
                CBMAdvertisementDataIsConnectable: true as NSNumber,
            ]))
        client.manager.scanForPeripherals(withServices: nil)
        try await emulator.advance(by: .seconds(1))
        let report = try #require(client.reports.first)
        #expect(report[CBMAdvertisementDataLocalNameKey] as? String == name)
        #expect(report[CBMAdvertisementDataManufacturerDataKey] as? Data == long)
        #expect(report["aKeyOfItsOwn"] as? Int == 5)
        #expect((report[CBMAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue == -4)
        #expect((report[CBMAdvertisementDataServiceDataKey] as? [CBMUUID: Data])?[CBMUUID(string: "180F")] == Data([9]))
    }

    @Test(arguments: [(CBMProximity.immediate, -40), (.near, -70), (.far, -100)])
    func `Without deviation the signal strength is that of the proximity`(
        _ proximity: CBMProximity, _ rssi: Int
    ) async throws {
        let client = try await Client.on(beacon([CBMAdvertisementDataLocalNameKey: "B"], proximity: proximity))
        client.manager.scanForPeripherals(withServices: nil)
        try await emulator.advance(by: .seconds(1))
        #expect(client.rssis == [rssi])
    }

    @Test func `With a deviation the signal strength varies within it`() async throws {
        let client = try await Client.on(beacon([:]))
        CBMCentralManagerMock.simulateRSSIDeviation(.custom(-3))
        client.manager.scanForPeripherals(
            withServices: nil, options: [CBMCentralManagerScanOptionAllowDuplicatesKey: true])
        try await emulator.advance(by: .seconds(10))
        #expect(Set(client.rssis) == Set(-73 ... -67))
    }

    @Test func `A peripheral out of range is not heard until it comes near`() async throws {
        let spec = beacon([CBMAdvertisementDataLocalNameKey: "B"], proximity: .outOfRange)
        let client = try await Client.on(spec)
        client.manager.scanForPeripherals(withServices: nil)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == [])
        spec.simulateProximityChange(.near)
        try await emulator.advance(by: .seconds(1))
        #expect(client.take() == ["found B"])
        #expect(spec.isKnown)
    }

    @Test func `A set with a delay begins after it, and one without an interval sends one packet`() async throws {
        let client = try await Client.on(
            beacon([CBMAdvertisementDataLocalNameKey: "late"], delay: 3),
            beacon([CBMAdvertisementDataLocalNameKey: "once"], interval: 0, delay: 1),
            beacon([CBMAdvertisementDataLocalNameKey: "silent"], interval: 0))
        client.manager.scanForPeripherals(
            withServices: nil, options: [CBMCentralManagerScanOptionAllowDuplicatesKey: true])
        try await emulator.advance(by: .milliseconds(700))
        #expect(client.take() == [])
        try await emulator.advance(by: .milliseconds(1_900))
        #expect(client.take() == ["found once"])
        try await emulator.advance(by: .milliseconds(500))
        #expect(Set(client.take()) == ["found late"])
    }

    @Test func `An interval longer than the emulator's sends packets that far apart`() async throws {
        let client = try await Client.on(beacon([CBMAdvertisementDataLocalNameKey: "slow"], interval: 30))
        client.manager.scanForPeripherals(
            withServices: nil, options: [CBMCentralManagerScanOptionAllowDuplicatesKey: true])
        try await emulator.advance(by: .seconds(95))
        #expect(client.take().count == 3)
    }

    @Test func `Other advertising sets take the place of the present ones, and nil ends advertising`() async throws {
        let spec = beacon([CBMAdvertisementDataLocalNameKey: "before"])
        let client = try await Client.on(spec)
        let options = [CBMCentralManagerScanOptionAllowDuplicatesKey: true]
        client.manager.scanForPeripherals(withServices: nil, options: options)
        try await emulator.advance(by: .seconds(1))
        _ = client.take()
        spec.simulateAdvertisementChange([
            CBMAdvertisementConfig(data: [CBMAdvertisementDataLocalNameKey: "after"], interval: 0.2)
        ])
        try await emulator.advance(by: .seconds(1))
        #expect(Set(client.take().suffix(3)) == ["found after"])
        spec.simulateAdvertisementChange(nil)
        try await emulator.advance(by: .milliseconds(20))
        _ = client.take()
        try await emulator.advance(by: .seconds(2))
        #expect(client.take() == [])
        #expect(spec.advertisement == nil)
    }

    @Test func `Peripherals may be added while a scan runs, and those left out are gone`() async throws {
        let (first, second) = (Sensor().spec("first"), Sensor().spec("second"))
        let client = try await Client.on(first)
        client.manager.scanForPeripherals(
            withServices: nil, options: [CBMCentralManagerScanOptionAllowDuplicatesKey: true])
        CBMCentralManagerMock.simulatePeripherals([second])
        try await emulator.advance(by: .seconds(1))
        #expect(Set(client.take()) == ["found second"])
    }
}
