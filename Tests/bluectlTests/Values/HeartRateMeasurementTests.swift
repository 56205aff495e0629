import Foundation
import Testing

@testable import bluectl

struct HeartRateMeasurementTests {
    @Test func flagsSayHowWideTheRateIs() throws {
        #expect(try #require(HeartRateMeasurement(Data([0x00, 72]))).text == "72 bpm")
        #expect(try #require(HeartRateMeasurement(Data([0x01, 0x2C, 0x01]))).text == "300 bpm")
    }

    @Test func contactIsKnownOnlyIfSupported() throws {
        #expect(try #require(HeartRateMeasurement(Data([0x02, 72]))).hasContact == nil)
        #expect(try #require(HeartRateMeasurement(Data([0x04, 72]))).hasContact == false)
        #expect(try #require(HeartRateMeasurement(Data([0x06, 72]))).hasContact == true)
    }

    @Test func energyAndIntervalsFollow() throws {
        let value = try #require(HeartRateMeasurement(Data([0x1E, 72, 0x0A, 0x00, 0x00, 0x04, 0x66, 0x03])))
        #expect(value.energy == 10)
        #expect(value.intervals == [1024, 870])
        #expect(value.text == "72 bpm, skin contact, 10 kJ, RR 1.000 0.850 s")
    }

    @Test(arguments: [[], [0x00], [0x01, 72], [0x08, 72, 1], [0x10, 72, 1], [0x00, 72, 0]] as [[UInt8]])
    func malformedValuesAreNil(bytes: [UInt8]) {
        #expect(HeartRateMeasurement(Data(bytes)) == nil)
    }
}
