import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothTesting
import Testing

/// Thermometers, and sensors for cycling, running and the environment.
@Suite(.emulator(.instant)) struct SensorTests {
    @Test func anEmulatedThermometerIsReadAndHeard() async throws {
        let fixture = ProfileFixture()
        try fixture.emulator.add(.healthThermometer)
        try await Self.useThermometer(fixture, try await fixture.find(HealthThermometerService.uuid))
    }

    @Test func aThermometerThatIsServedIsReadAndHeard() async throws {
        let fixture = ProfileFixture()
        let (device, peripheral) = try await fixture.simulate(HealthThermometerServer())
        try await Self.useThermometer(fixture, peripheral)
        device.stop()
    }

    private static func useThermometer(_ fixture: ProfileFixture, _ peripheral: Peripheral) async throws {
        let emulator = fixture.emulator
        try await fixture.emulator.run { () async throws in
            let client = HealthThermometerClient(peripheral)
            #expect(try await client.type() == .body)
            #expect(try await client.interval()?.seconds == 10)
            try await client.setInterval(MeasurementInterval(seconds: 2))
            #expect(try await client.interval()?.seconds == 2)
            let began = emulator.now
            let values = try await client.measurements.first(2)
            #expect(values.map(\.celsius) == [36.6, 36.6])
            #expect(values.allSatisfy { $0.timestamp != nil })
            #expect((Duration.seconds(4)..<Duration.seconds(5)).contains(emulator.now - began))
            let error = await #expect(throws: (any Error).self) {
                try await client.setInterval(MeasurementInterval(seconds: 0))
            }
            #expect(attCode(error) == 0x80)
        }
    }

    @Test func anEmulatedBicycleIsReadAndHeard() async throws {
        let fixture = ProfileFixture()
        try fixture.emulator.add(.cyclingSpeedAndCadence)
        try await Self.ride(fixture, try await fixture.find(CyclingSpeedAndCadenceService.uuid), to: .frontWheel)
    }

    @Test func aBicycleThatIsServedIsReadAndHeard() async throws {
        let fixture = ProfileFixture()
        let (device, peripheral) = try await fixture.simulate(CyclingSpeedAndCadenceServer())
        try await Self.ride(fixture, peripheral, to: .frontWheel)
        device.stop()
    }

    private static func ride(_ fixture: ProfileFixture, _ peripheral: Peripheral, to place: SensorLocation) async throws
    {
        try await fixture.emulator.run { () async throws in
            let client = CyclingSpeedAndCadenceClient(peripheral)
            #expect(try await client.feature().contains(.wheelRevolutions))
            let values = try await client.measurements.first(3)
            let speed = try #require(values[2].speed(since: values[0], circumference: 2))
            let cadence = try #require(values[2].cadence(since: values[0]))
            #expect(abs(speed - 6) < 0.01)
            #expect(abs(cadence - 60) < 0.1)
            let locations = try await client.writeControlPoint(.requestSupportedSensorLocations)
            #expect(locations.result == .success && locations.supportedLocations.contains(place))
            #expect(try await client.writeControlPoint(.updateSensorLocation(place)).result == .success)
            #expect(try await client.sensorLocation() == place)
            #expect(try await client.writeControlPoint(.updateSensorLocation(.chest)).result == .invalidParameter)
            #expect(try await client.writeControlPoint(.startSensorCalibration).result == .opCodeNotSupported)
            #expect(try await client.writeControlPoint(.setCumulativeValue(5000)).result == .success)
            let later = try await client.measurements.first(1)
            #expect((5000..<5020).contains(try #require(later[0].wheel?.count)))
        }
    }

    @Test func aRunnerThatIsServedIsReadAndHeard() async throws {
        let fixture = ProfileFixture()
        let (device, peripheral) = try await fixture.simulate(RunningSpeedAndCadenceServer())
        try await fixture.emulator.run { () async throws in
            let client = RunningSpeedAndCadenceClient(peripheral)
            #expect(try await client.feature().contains(.totalDistance))
            #expect(try await client.sensorLocation() == .inShoe)
            let values = try await client.measurements.first(3)
            #expect(values.map(\.totalDistance) == [25, 50, 75])
            #expect(values.allSatisfy { $0.speed == 2.5 && $0.cadence == 80 && $0.isRunning })
            #expect(try await client.writeControlPoint(.setCumulativeValue(0)).result == .success)
            #expect(try await client.measurements.first(1)[0].totalDistance == 25)
        }
        device.stop()
    }

    /// An environmental thermometer with all descriptors of the service.
    private static let described: PeripheralDescription = {
        var temperature = CharacteristicDescription("2A6E", [.read, .notify], value: Data(hex: "66 08"))
        temperature.descriptors = [
            DescriptorDescription("290C", value: Data(hex: "00 00 02 3C 00 00 2C 01 00 02 01")),
            DescriptorDescription("290D", value: Data(hex: "00"), permissions: [.readable, .writeable]),
            DescriptorDescription("290D", value: Data(hex: "02 3C 00 00"), permissions: [.readable, .writeable]),
            DescriptorDescription("290B", value: Data(hex: "00"), permissions: [.readable, .writeable]),
            DescriptorDescription("2906", value: Data(hex: "18 FC 10 27")),
        ]
        return PeripheralDescription(
            name: "Weather", advertising: [AdvertisingDescription(AdvertisingData(services: ["181A"]))],
            services: [ServiceDescription("181A", characteristics: [temperature])])
    }()

    @Test func whenAValueIsNotifiedIsReadAndSet() async throws {
        let fixture = ProfileFixture()
        try fixture.emulator.add(Self.described)
        let peripheral = try await fixture.find(EnvironmentalSensingService.uuid)
        try await fixture.emulator.run { () async throws in
            let client = EnvironmentalSensingClient(peripheral)
            let temperature = EnvironmentalSensingService.temperature
            #expect(try await client.measurement(of: temperature)?.period == 60)
            let range = try await client.validRange(of: temperature)
            #expect(try range == ValidRange(lower: Temperature(-10), upper: Temperature(100)))
            let triggers = try await client.triggers(of: temperature)
            #expect(triggers.map(\.condition) == [.inactive, .minimumInterval(seconds: 60)])
            #expect(try await client.configuration(of: temperature) == .all)
            let frost = ESTriggerSetting.Condition.comparison(.less, try Temperature(0))
            try await client.setTrigger(ESTriggerSetting(frost), of: temperature)
            try await client.setTrigger(ESTriggerSetting(.valueChanged), instance: 2, of: temperature)
            try await client.setConfiguration(.any, of: temperature)
            #expect(try await client.triggers(of: temperature).map(\.condition) == [frost, .valueChanged])
            #expect(try await client.configuration(of: temperature) == .any)
        }
    }

    @Test func aDescriptorThatIsNotThereIsNilAndAMalformedOneNamesItsPath() async throws {
        let fixture = ProfileFixture()
        var description = Self.described
        description.services[0].characteristics[0].descriptors = [
            DescriptorDescription("290D", value: Data(hex: "0A"))
        ]
        try fixture.emulator.add(description)
        let peripheral = try await fixture.find(EnvironmentalSensingService.uuid)
        let client = EnvironmentalSensingClient(peripheral)
        let temperature = EnvironmentalSensingService.temperature
        #expect(try await fixture.emulator.run { try await client.configuration(of: temperature) } == nil)
        let error = await #expect(throws: BluetoothError.self) {
            try await fixture.emulator.run { try await client.triggers(of: temperature) }
        }
        #expect(error?.path == "181A/2A6E/290D")
        #expect(error?.valueError?.field == "Condition")
    }

    @Test func theEnvironmentIsReadAndHeard() async throws {
        let fixture = ProfileFixture()
        let subscribed = Moment()
        let rain = ServedValue(EnvironmentalSensingService.rainfall, try Rainfall(3))
        let server = EnvironmentalSensingServer(humidity: try Humidity(nil), others: [rain])
        let (device, peripheral) = try await fixture.simulate(server) { if case .subscribed = $0 { subscribed.come() } }
        try await fixture.emulator.run { () async throws in
            let client = EnvironmentalSensingClient(peripheral)
            #expect(try await client.temperature()?.value == 21.5)
            #expect(try await client.pressure()?.value == 1013.25)
            #expect(try await client.humidity()?.value == nil)
            #expect(try await client.read(EnvironmentalSensingService.rainfall)?.value == 3)
            #expect(try await client.read(EnvironmentalSensingService.elevation) == nil)
            async let values = client.values(of: EnvironmentalSensingService.temperature).first(2)
            await subscribed.wait()
            server.temperature.value = try Temperature(22)
            server.temperature.value = try Temperature(-3.25)
            let heard = try await values
            #expect(heard.map(\.value) == [22, -3.25])
            #expect(try await client.temperature()?.value == -3.25)
        }
        device.stop()
    }
}
