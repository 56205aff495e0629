import BluetoothProfiles
import Foundation
import Testing

@Suite struct ValueTests {
    @Test func intervalsBetweenBeatsAreExactDurations() {
        let value = HeartRateMeasurement(rate: 60, intervals: [1024, 512, 1])
        #expect(
            value.intervalDurations == [.seconds(1), .milliseconds(500), .nanoseconds(976_562) + .nanoseconds(1) / 2])
    }

    @Test func aSystemIDIsMadeOfADeviceAddress() {
        #expect(SystemID(deviceAddress: 0x1234_569A_BCDE).encoded.hex == "DE BC 9A FE FF 56 34 12")
    }

    /// Source: HL7, Personal Health Device Implementation Guide, "IEEE 11073 FLOATs and SFLOATs".
    @Test(
        arguments: [
            (0x0000_0002, 2.0, "2"), (0xFF00_0014, 2.0, "2.0"), (0xFE00_00C8, 2.0, "2.00"), (0x0100_0002, 20.0, "20"),
            (0x0200_0002, 200.0, "200"), (0xFF00_016C, 36.4, "36.4"),
        ] as [(UInt32, Double, String)])
    func theExponentOfAFloatIsItsPrecision(bits: UInt32, value: Double, text: String) throws {
        let float = try #require(MedicalFloat(bits: bits))
        #expect(float.value == value)
        #expect(float.description == text)
    }

    @Test func aFloatHasFourSpecialValuesAndAReservedOne() throws {
        #expect(try MedicalFloat(.nan) == .notANumber)
        #expect(try MedicalFloat(.infinity) == .positiveInfinity)
        #expect(try MedicalFloat(-.infinity) == .negativeInfinity)
        #expect(MedicalFloat.notAtThisResolution.value.isNaN)
        #expect(MedicalFloat.negativeInfinity.value == -.infinity)
        #expect(MedicalFloat(bits: 0x0080_0001) == nil)
        #expect(try MedicalFloat(36.44) == MedicalFloat(mantissa: 364, exponent: -1))
    }

    @Test(arguments: [
        (0.0, "1970-01-01 00:00:00", DayOfWeek.thursday), (951_782_400, "2000-02-29 00:00:00", .tuesday),
        (-1, "1969-12-31 23:59:59", .wednesday), (253_402_300_799, "9999-12-31 23:59:59", .friday),
        (-12_244_089_600, "1582-01-01 00:00:00", .friday),
    ])
    func dateTimesAndDatesAreTheSame(seconds: Double, text: String, day: DayOfWeek) throws {
        let date = try #require(DateTime(Date(timeIntervalSince1970: seconds + 0.5)))
        #expect(date.description == text)
        #expect(date.date == Date(timeIntervalSince1970: seconds))
        #expect(CurrentTime(date).dayOfWeek == day)
    }

    @Test func aDateThatIsNoneHasNoInstant() throws {
        #expect(DateTime(Date(timeIntervalSince1970: 253_402_300_800)) == nil)
        #expect(DateTime(Date(timeIntervalSince1970: .infinity)) == nil)
        #expect(DateTime(year: 2023, month: 2, day: 29, hours: 0, minutes: 0, seconds: 0)?.date == nil)
        #expect(DateTime(year: 0, month: 2, day: 2, hours: 0, minutes: 0, seconds: 0)?.date == nil)
        #expect(DateTime(year: 2023, month: 13, day: 1, hours: 0, minutes: 0, seconds: 0) == nil)
        let unknown = try #require(DateTime(year: 0, month: 0, day: 0, hours: 1, minutes: 2, seconds: 3))
        #expect(CurrentTime(unknown).dayOfWeek == .unknown)
    }

    @Test func speedAndCadenceFollowFromTwoMeasurements() throws {
        let before = CSCMeasurement(
            wheel: RevolutionData(count: .max, lastEventTime: 65_024),
            crank: RevolutionData(count: .max - 1, lastEventTime: 64_512))
        let after = CSCMeasurement(
            wheel: RevolutionData(count: 2, lastEventTime: 512), crank: RevolutionData(count: 0, lastEventTime: 512))
        #expect(after.speed(since: before, circumference: 2) == 6)
        #expect(after.cadence(since: before) == 80)
        #expect(after.cadence(since: after) == nil)
        #expect(CSCMeasurement().speed(since: before, circumference: 2) == nil)
    }

    @Test func aQuantityIsRoundedToItsResolution() throws {
        #expect(try Temperature(36.604).rawNumber == 3660)
        #expect(try Temperature(327.67).value == 327.67)
        #expect(try Temperature(-273.15).value == -273.15)
        #expect(try Temperature(nil).encoded.hex == "00 80")
        #expect(try Humidity(100).value == 100)
        #expect(try BatteryLevel(percent: 0).percent == 0)
    }

    /// Returns the error of an impossible value.
    private static func problem(_ make: () throws -> some GATTValue) -> GATTValueError.Problem? {
        do {
            _ = try make()
            return nil
        } catch {
            return (error as? GATTValueError)?.problem
        }
    }

    @Test func aNumberOutOfItsRangeIsAnErrorThatNamesTheRange() {
        let celsius = -273.15...327.67
        #expect(Self.problem { try Temperature(1000) } == .outOfRange(1000, allowed: celsius))
        #expect(Self.problem { try Temperature(-300) } == .outOfRange(-300, allowed: celsius))
        #expect(Self.problem { try Temperature(.infinity) } != nil)
        #expect(Self.problem { try Temperature(.nan) } != nil)
        #expect(Self.problem { try Humidity(100.01) } == .outOfRange(100.01, allowed: 0...100))
        #expect(Self.problem { try PollenConcentration(1e9) } != nil)
        #expect(Self.problem { try UVIndex(nil) } == .notKnown)
        #expect(
            Self.problem { try BatteryLevel(percent: 101) } == .outOfRange(101, allowed: 0...100))
        #expect(Self.problem { try BatteryLevel(percent: -1) } != nil)
        #expect(Self.problem { try LocalTimeInformation(timeZone: 57) } != nil)
        #expect(
            Self.problem {
                try ReferenceTimeInformation(source: .satellite, hoursSinceUpdate: -1)
            } != nil)
        #expect(Self.problem { try MedicalFloat(mantissa: 8_388_606, exponent: 0) } != nil)
        #expect(
            Self.problem { try MedicalFloat(1e9, digits: 0) } == .outOfRange(1e9, allowed: -8_388_605...8_388_605))
        #expect(Self.problem { try MedicalFloat(36.6, digits: 10) } == .outOfRange(10, allowed: 0...9))
        #expect(Self.problem { try MedicalFloat(36.6, digits: -1) } == .outOfRange(-1, allowed: 0...9))
        #expect(
            Self.problem {
                try ESTriggerSetting<Temperature>(.interval(seconds: 0x100_0000))
            } != nil)
        #expect(
            Self.problem { try ESMeasurement(function: .mean, period: 0) }
                == .outOfRange(0, allowed: 1...16_777_215))
        #expect(Self.problem { try ESMeasurement(function: .mean, uncertainty: 201) } != nil)
        #expect(throws: GATTValueError.self) { try CyclingPowerMeasurement.Balance(share: 201, isLeft: true) }
        #expect(throws: GATTValueError.self) { try RunningSpeedAndCadenceServer(speed: 256) }
        #expect(throws: GATTValueError.self) { try CyclingSpeedAndCadenceServer(cadence: -1, wheelRate: 180) }
        #expect(throws: GATTValueError.self) { try CyclingSpeedAndCadenceServer(cadence: 60, wheelRate: .nan) }
    }

    @Test func anErrorOfARangeIsOneLineForPeople() {
        let error = #expect(throws: GATTValueError.self) { try BatteryLevel(percent: 300) }
        let text = "Battery Level: field Battery Level cannot be 300.0: 0.0 to 100.0 are possible"
        #expect(error?.description == text)
    }

    @Test func textsEndAtTheirZeroAndSecondsHave24Bits() throws {
        #expect(UniqueDeviceIdentifier(label: "A\0B", authority: "").encoded.hex == "09 41 00 00")
        #expect(try ESTriggerSetting<Temperature>(.interval(seconds: 0xFF_FFFF)).encoded.hex == "01 FF FF FF")
        let warm = try ESTriggerSetting<Temperature>(decoding: Data(hex: "07 66 08"))
        #expect(try warm == ESTriggerSetting(.comparison(.greaterOrEqual, Temperature(21.5))))
        #expect(warm.description == "while ≥ 21.50 °C")
    }

    @Test func ordersAndResponsesOfTheControlPoint() throws {
        #expect(SCControlPointRequest.setCumulativeValue(0x0102).encoded.hex == "01 02 01 00 00")
        #expect(SCControlPointRequest.updateSensorLocation(.rearWheel).encoded.hex == "03 0C")
        let response = SCControlPointResponse(
            requestCode: 4, result: .success, supportedLocations: [.frontWheel, .rearWheel])
        #expect(response.encoded.hex == "10 04 01 04 0C")
        #expect(try SCControlPointResponse(decoding: Data(hex: "10 03 03")).result == .invalidParameter)
        #expect(throws: GATTValueError.self) { try SCControlPointRequest(decoding: Data(hex: "05")) }
    }
}
