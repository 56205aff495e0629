import AsyncBluetooth
import BluetoothEmulator
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite(.emulator(.instant)) struct HeartRateTests {
    @Test func anEmulatedMonitorIsReadAndHeard() async throws {
        let fixture = ProfileFixture()
        try fixture.emulator.add(.heartRateMonitor)
        let peripheral = try await fixture.find(HeartRateService.uuid)
        let client = HeartRateClient(peripheral)
        try await fixture.emulator.run { () async throws in
            #expect(try await client.bodySensorLocation() == .chest)
            #expect(try await BatteryClient(peripheral).level() == (try BatteryLevel(percent: 87)))
            let values = try await client.measurements.first(10)
            #expect(values.allSatisfy { (60...90).contains($0.rate) && $0.hasContact == true })
            #expect(values.map { $0.energyExpended != nil } == Array(repeating: false, count: 9) + [true])
            try await client.resetEnergyExpended()
        }
    }

    @Test func aServerMeasuresEachSecondWhileSomebodyListens() async throws {
        let fixture = ProfileFixture()
        let battery = BatteryServer(level: try BatteryLevel(percent: 40))
        let (device, peripheral) = try await fixture.simulate(
            HeartRateServer(location: .wrist, rate: { UInt16(100 + $0) }), battery)
        let client = HeartRateClient(peripheral)
        let emulator = fixture.emulator
        try await fixture.emulator.run { () async throws in
            #expect(try await client.bodySensorLocation() == .wrist)
            #expect(try await BatteryClient(peripheral).level().percent == 40)
            let began = emulator.now
            let values = try await client.measurements.first(20)
            #expect(values.map(\.rate) == Array(100..<120))
            #expect(values.map(\.energyExpended).compactMap { $0 } == [1, 2])
            #expect((Duration.seconds(20)..<Duration.seconds(21)).contains(emulator.now - began))
            try await client.resetEnergyExpended()
            let more = try await client.measurements.first(10)
            #expect(more.first?.rate == 120)
            #expect(more.compactMap(\.energyExpended) == [1])
        }
        device.stop()
    }

    @Test func anOrderThatIsReservedIsRefusedByItsProfilesCode() async throws {
        let fixture = ProfileFixture()
        let (device, peripheral) = try await fixture.simulate(HeartRateServer())
        try await fixture.emulator.run { () async throws in
            let reserved = await #expect(throws: (any Error).self) {
                try await peripheral.write(Data([2]), to: HeartRateService.controlPoint.id)
            }
            #expect(attCode(reserved) == 0x80)
            let long = await #expect(throws: (any Error).self) {
                try await peripheral.write(Data([1, 1]), to: HeartRateService.controlPoint.id)
            }
            #expect(attCode(long) == 0x0D)
        }
        device.stop()
    }

    @Test func aMalformedValueThatIsReadNamesOperationPeerAndPath() async throws {
        let fixture = ProfileFixture()
        let raw = ServedValue(GATTCharacteristic<Data>("2A38", in: "180D", .read), Data([9]))
        let server = ValueServer(service: HeartRateService.uuid, values: [raw])
        let (device, peripheral) = try await fixture.simulate(server)
        let error = await #expect(throws: BluetoothError.self) {
            try await fixture.emulator.run { try await HeartRateClient(peripheral).bodySensorLocation() }
        }
        #expect(error?.operation == .read)
        #expect(error?.peer == peripheral.identifier)
        #expect(error?.path == "180D/2A38")
        #expect(error?.valueError?.problem == .reserved(9))
        device.stop()
    }

    @Test func aMalformedMeasurementNamesTheField() async throws {
        let fixture = ProfileFixture()
        let raw = ServedValue(GATTCharacteristic<Data>("2A37", in: "180D", .notify))
        let subscribed = Moment()
        let server = ValueServer(service: HeartRateService.uuid, values: [raw])
        let (device, peripheral) = try await fixture.simulate(server) { if case .subscribed = $0 { subscribed.come() } }
        try await fixture.emulator.run { () async throws in
            async let results = peripheral.results(of: HeartRateService.measurement).first(2)
            await subscribed.wait()
            raw.send(Data([1, 72]))
            raw.send(Data([0, 72]))
            let values = try await results
            guard case .failure(let error) = values[0] else { throw CancellationError() }
            #expect(error.operation == .notifications)
            #expect(error.peer == peripheral.identifier)
            #expect(error.path == "180D/2A37")
            #expect(error.valueError?.field == "Heart Rate Measurement Value")
            #expect("\(error)".hasSuffix("needs 2 bytes, 1 left"))
            #expect(try values[1].get().rate == 72)
        }
        device.stop()
    }
}
