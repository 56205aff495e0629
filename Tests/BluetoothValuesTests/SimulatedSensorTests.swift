import BluetoothValues
import Testing

/// The sensors that emulated devices and profile servers simulate.
@Suite struct SimulatedSensorTests {
    @Test func aMeasurementHasTheBeatsSinceTheLastOne() throws {
        var sensor = HeartRateSensor()
        var ticks = 0
        for number in 1...60 {
            let measured = sensor.measure(rate: 90, hasContact: true)
            let value = try #require(measured)
            ticks += value.intervals.reduce(0) { $0 + Int($1) }
            #expect((number * 1024 - 682...number * 1024).contains(ticks))
            #expect(value.energyExpended == (number.isMultiple(of: 10) ? UInt16(number / 10) : nil))
        }
    }

    @Test(arguments: [0, 1, 255, 256, .max] as [UInt16])
    func aMeasurementFitsEveryMTU(rate: UInt16) {
        var sensor = HeartRateSensor()
        let values = (1...10).compactMap { _ in sensor.measure(rate: rate, hasContact: nil) }
        #expect(values.count == 10 && values.allSatisfy { $0.encoded.count <= 20 })
    }

    @Test(
        arguments: [
            ([], [0x10, 0, 2]), ([1, 1, 0], [0x10, 1, 3]), ([2], [0x10, 2, 2]), ([2, 0], [0x10, 2, 2]),
            ([3, 12], [0x10, 3, 3]), ([3, 200], [0x10, 3, 3]), ([4], [0x10, 4, 1, 4, 5]), ([9], [0x10, 9, 2]),
        ] as [([UInt8], [UInt8])])
    func aRequestThatIsNotRunHasItsReason(request: [UInt8], response: [UInt8]) {
        let answer = SCControlPointResponse(
            to: Data(request), locations: [.frontWheel, .leftCrank], setValue: { _ in Issue.record("set") },
            setLocation: { _ in Issue.record("set") })
        #expect(Array(answer.encoded) == response)
    }

    @Test func aClockThatIsSetShowsThatTime() {
        var clock = SettableClock()
        let date = Date(timeIntervalSince1970: 1_700_000_000.3)
        clock.set(to: 1_000_000_000, zone: 3600, at: date, .seconds(10))
        let time = clock.time(at: date + 2, zone: 3600)
        #expect(time.dateTime == DateTime(Date(timeIntervalSince1970: 1_000_000_002)))
        #expect(time.fractions256 == 0)
        #expect(clock.reference(at: .seconds(10 + 7200)).hoursSinceUpdate == 2)
        #expect(clock.reference(at: .seconds(10)).source == .manual)
    }
}
